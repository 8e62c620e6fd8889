// A timeline of a run's decisions, with lanes for stages, phases and the length penalty, and marks that open decisions.
import { together } from "../chart.js";
import { html, shown, useState } from "../lib.js";

/** @typedef {import("./run.js").Decisions} Decisions */

const LANE = 22; // height of a lane in pixels
const NEAR = 0.6; // marks closer than this percentage of the width are drawn as one
const LANES = /** @type {const} */ ([
  ["stage", "stage"],
  ["phase", "phase"],
  ["penalty", "length penalty"],
]);
/** Kinds of scheduled decisions; the others indicate trouble. */
export const CALM = ["reference_reset", "phase_started", "warm_start", "config_changed"];

/**
 * @param {{decided: Decisions, last: number, step: number | null, open: (step: number) => void}} props
 */
export function Timeline({ decided, last, step, open }) {
  const [current, setCurrent] = useState(0);
  /** @param {number} at */
  const place = (at) => (100 * Math.min(Math.max(at, 0), last)) / Math.max(last, 1);
  const lanes = LANES.filter(([kind]) => decided.bands.some((b) => b.kind === kind));
  const rows = /** @type {[string, Decisions["marks"]][]} */ ([
    ["reference reset", decided.marks.filter((m) => m.kind === "reference_reset")],
    ["other decisions", decided.marks.filter((m) => m.kind !== "reference_reset" && m.kind !== "phase_started")],
  ]).filter(([, marks]) => marks.length > 0);
  if (!lanes.length && !rows.length) return null;
  let number = 0;

  /** @param {KeyboardEvent} event */
  function walk(event) {
    const way = { ArrowRight: 1, ArrowLeft: -1, j: 1, k: -1 }[event.key];
    if (way === undefined) return;
    event.preventDefault();
    const all = [.../** @type {Element} */ (event.currentTarget).querySelectorAll("[role=button]")];
    const to = Math.min(all.length - 1, Math.max(0, all.indexOf(/** @type {Element} */ (event.target)) + way));
    setCurrent(to);
    /** @type {HTMLElement} */ (all[to]).focus();
  }

  return html`<div class="timeline" role="group" aria-label="decisions over the steps; arrow keys walk through them, Enter tells why" onKeyDown=${walk}>
    ${lanes.map(
      ([kind, title]) => html`<span class="lane">${title}</span>
        <svg height=${LANE} role="img" aria-label=${words(decided, kind)}>
          ${decided.bands
            .filter((b) => b.kind === kind)
            .map(
              (b, i) => html`<rect class="lane-${kind} ${i % 2 ? "odd" : ""}" x="${place(b.from)}%" width="${Math.max(place(b.to) - place(b.from), 0.2)}%" y="3" height=${LANE - 6}><title>${b.label}, steps ${b.from} to ${b.to - 1}</title></rect>
                ${kind !== "penalty" && place(b.to) - place(b.from) > b.label.length && html`<text x="${place(b.from) + 0.4}%" y=${LANE - 7}>${b.label}</text>`}`,
            )}
        </svg>`,
    )}
    ${rows.map(
      ([title, marks]) => html`<span class="lane">${title}</span>
        <svg height=${LANE}>
          ${together(marks, (m) => place(m.step), NEAR).map((group) => {
            const mine = number++;
            const at = group[0].step;
            const text = group.length > 3 ? `${group.length} decisions, steps ${at} to ${group[group.length - 1].step}` : group.map((m) => `step ${m.step}: ${m.label}`).join("; ");
            return html`<svg class="mark ${CALM.includes(group[0].kind) ? "calm" : ""} ${group.some((m) => m.step === step) ? "chosen" : ""}" x="${place(at)}%" overflow="visible" role="button" aria-label=${text} tabindex=${mine === current ? 0 : -1} onClick=${() => open(at)} onFocus=${() => setCurrent(mine)} onKeyDown=${(/** @type {KeyboardEvent} */ e) => e.key === "Enter" && open(at)}>
              <title>${text}</title>
              <path d="M -5 5 h 10 l -5 11 z" />
              <rect class="touch" x="-8" y="0" width="16" height=${LANE} />
            </svg>`;
          })}
        </svg>`,
    )}
    <span class="lane"></span><span class="ends"><span>step 1</span><span>${shown(last)}</span></span>
  </div>`;
}

/**
 * @param {Decisions} decided
 * @param {string} kind
 */
function words(decided, kind) {
  const bands = decided.bands.filter((b) => b.kind === kind);
  return `${kind}: ${bands.map((b) => `${b.label}, steps ${b.from} to ${b.to - 1}`).join("; ")}`;
}
