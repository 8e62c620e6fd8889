// The decisions at a step with their evidence, and the changes from before to after it.
import { exported, useData, useMany } from "../data.js";
import { html, shown, signed, useEffect, useKey, useRef, useState } from "../lib.js";
import { link } from "../router.js";
import { Table } from "../table.js";
import { Name } from "../text.js";

/** @typedef {import("./run.js").Decisions} Decisions */
/** @typedef {{key: string, title: string, unit: string, before: number, after: number, change: number, z: number | null}} Mover */
/** @typedef {{key: string, label: string, value: any}} Seen */

const SUSPECTS = ["truncated_rate", "unparsable_rate", "infra_errors", "response_length_mean", "mismatch_kl", "kl", "entropy", "lr"];
export const WIDTHS = [20, 50, 100]; // steps compared on either side; the first is the server's default
const MOVED = 10; // metrics listed initially
const RATES = [
  { key: "truncated_rate", title: "cut" },
  { key: "unparsable_rate", title: "unparsable" },
];
const SEEN = 0.05; // a column is shown if a share reaches this value
const SURE = 3; // a change of at least this many standard errors is marked as clear

/**
 * @param {{subject: string, step: number, width: number, decided: Decisions, open: (step: number | null) => void, widen: (width: number) => void, zoom: (from: number, to: number) => void}} props
 *   `width`: steps compared on either side
 */
export function StepPanel({ subject, step, width, decided, open, widen, zoom }) {
  const here = useData(subject, "decision", { step });
  const [around] = useMany([subject], "around", { step: String(step), ...(width === WIDTHS[0] ? {} : { width: String(width) }) });
  const head = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (document.activeElement !== document.body) head.current?.focus({ preventScroll: innerWidth > 1000 });
  }, []);
  useKey((event) => {
    if (event.key === "Escape") open(null);
  });
  const steps = [...new Set(decided.marks.map((m) => m.step))];
  const earlier = steps.filter((s) => s < step).at(-1);
  const later = steps.find((s) => s > step);
  const a = around?.data;
  return html`<aside class="panel" aria-label="around step ${step}">
    <div class="panel-head">
      <h2 tabindex="-1" ref=${head}>Step ${shown(step)}</h2>
      <button class="quiet" disabled=${earlier === undefined} onClick=${() => open(earlier ?? null)} title="the decision before">‹ earlier</button>
      <button class="quiet" disabled=${later === undefined} onClick=${() => open(later ?? null)} title="the next decision">later ›</button>
      <button class="quiet" onClick=${() => open(null)} aria-label="close">✕</button>
    </div>
    ${here.error && html`<p class="error">${here.error}</p>`}
    ${(here.data?.decisions ?? []).map((/** @type {any} */ d) => html`<section class="decided">
      <h3>${d.label}</h3>
      <p>${d.reason}</p>
      <${Evidence} rows=${d.evidence} />
    </section>`)}
    ${here.data && !here.data.decisions.length && html`<p class="none">nothing was decided at this step</p>`}
    <${Rules} subject=${subject} step=${step} />
    ${a && html`<${Around} subject=${subject} step=${step} width=${width} a=${a} open=${open} widen=${widen} zoom=${zoom} />`}
  </aside>`;
}

/**
 * @param {{rows: Seen[]}} props
 */
function Evidence({ rows }) {
  if (!rows.length) return null;
  return html`<dl>${rows.map((r) => html`<dt>${r.label}</dt><dd><${Value} value=${r.value} /></dd>`)}</dl>`;
}

/** @param {{value: any}} props */
function Value({ value }) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return shown(value, 5);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return html`<${Name} value=${value} />`;
  if (value.rows) return value.rows.length ? html`<${Evidence} rows=${value.rows} />` : "none";
  const items = value.items;
  if (!items.length) return "none";
  const short = items.length <= 4;
  const list = items.map((/** @type {any} */ item) => html`<span class="item"><${Value} value=${item} /></span>`);
  const more = value.more ? ` and ${shown(value.more)} more` : "";
  return short ? html`${list}${more}` : html`<details><summary>${shown(items.length + (value.more ?? 0))} entries</summary>${list}${more}</details>`;
}

/**
 * The values that the controller's rules observed, requested only when shown.
 * @param {{subject: string, step: number}} props
 */
function Rules({ subject, step }) {
  const [wanted, want] = useState(false);
  const { data, error, loading } = useData(subject, wanted && step > 0 ? "rules" : "", { step });
  if (step === 0) return null;
  return html`<details onToggle=${(/** @type {Event} */ e) => want(/** @type {HTMLDetailsElement} */ (e.currentTarget).open)}>
    <summary>what the rules saw at step ${shown(step)}</summary>
    ${wanted && loading && html`<p class="none">going through the run…</p>`}
    ${error && html`<p class="error">${error}</p>`}
    ${data?.trouble && html`<p class="warn">The rules cannot be gone through: ${data.trouble}</p>`}
    ${data && html`<${Evidence} rows=${data.seen} />`}
  </details>`;
}

/** @param {{subject: string, step: number, width: number, a: any, open: (step: number | null) => void, widen: (width: number) => void, zoom: (from: number, to: number) => void}} props */
function Around({ subject, step, width, a, open, widen, zoom }) {
  const [all, setAll] = useState(false);
  const movers = /** @type {Mover[]} */ (a.movers);
  const reward = movers.find((m) => m.key === "reward_mean");
  const suspects = SUSPECTS.flatMap((key) => movers.filter((m) => m.key === key));
  suspects.sort((x, y) => Number(isSure(y)) - Number(isSure(x)));
  const single = a.before[1] < a.before[0];
  if (single) return html`<p class="none">there is no step before this one to compare with</p>`;
  const spans = `steps ${shown(a.before[0])}–${shown(a.before[1])} against ${shown(a.after[0])}–${shown(a.after[1])}`;
  return html`<h3>Before and after</h3>
    ${!exported &&
    html`<label class="widths">steps compared
      <select value=${width} onChange=${(/** @type {Event} */ e) => widen(Number(/** @type {HTMLSelectElement} */ (e.currentTarget).value))}>
        ${WIDTHS.map((w) => html`<option value=${w} selected=${w === width}>${w} before, ${w} after</option>`)}
      </select></label>`}
    <p class="soft">${spans} <button onClick=${() => zoom(a.before[0], a.after[1])}>show these in the charts</button></p>
    ${reward && html`<p class="lead">Reward ${shown(reward.before)} → ${shown(reward.after)}: <b class=${tone(reward.change)}>${signed(reward.change)}</b>${inErrors(reward.z)}.</p>`}
    <div class="suspects">${suspects.map((m) => html`<${Suspect} m=${m} />`)}</div>
    <${Divided} title="Where the reward went, by domain" about="domain" divided=${a.domains} subject=${subject} after=${a.after} unit="groups" />
    <${Divided} title="By task" about="task" divided=${a.tasks} subject=${subject} after=${a.after} unit="responses" />
    ${a.unread > 0 && html`<p class="soft">reading rollouts: ${shown(a.unread)} files to go</p>`}
    <h3>What moved most</h3>
    <${Table} label="what moved most" columns=${MOVER_COLUMNS} rows=${all ? movers : movers.slice(0, MOVED)} id=${(/** @type {Mover} */ m) => m.key} />
    ${movers.length > MOVED && html`<button class="quiet" onClick=${() => setAll(!all)}>${all ? "fewer" : `all ${movers.length} numbers`}</button>`}
    <p class="soft">σ: the change in standard errors of the steps' own spread. Neighbouring steps are alike, so it orders; it proves nothing.</p>
    <h3>Rollouts</h3>
    ${a.rollouts.length
      ? html`<p class="steps">${near(a.rollouts, step).map((s) => html`<a href=${link(subject, "rollouts", { step: s })}>step ${shown(s)}</a> `)} <a href=${link(subject, "rollouts", { step: `${a.before[0]}..${a.before[1]}` })}>all before</a> <a href=${link(subject, "rollouts", { step: `${a.after[0]}..${a.after[1]}` })}>all after</a></p>`
      : html`<p class="none">none were written for these steps</p>`}
    ${a.decisions.length > 0 && html`<h3>Decided in these steps</h3>
      <ul class="near">${a.decisions.map((/** @type {any} */ d) => html`<li><button class="quiet" onClick=${() => open(d.step)}>step ${shown(d.step)}${d.to ? `–${shown(d.to)}` : ""}</button> ${d.label}</li>`)}</ul>`}`;
}

/** @param {Mover} m */
function isSure(m) {
  return m.z !== null && Math.abs(m.z) >= SURE;
}

/** @param {{m: Mover}} props */
function Suspect({ m }) {
  return html`<span class="suspect ${isSure(m) ? "sure" : ""}">${m.title}: ${amount(m.before, m.unit)} → ${amount(m.after, m.unit)}${m.z !== null && html` <span class="unit">${shown(m.z, 2)} σ</span>`}</span>`;
}

/** @type {import("../table.js").Column[]} */
const MOVER_COLUMNS = [
  { key: "title", title: "number" },
  { key: "before", title: "before", number: true, show: (m) => amount(m.before, m.unit) },
  { key: "after", title: "after", number: true, show: (m) => amount(m.after, m.unit) },
  { key: "z", title: "σ", number: true, value: (m) => (m.z === null ? null : Math.abs(m.z)), show: (m) => shown(m.z, 2) },
];

/**
 * The change of the reward, split among domains or tasks.
 * @param {{title: string, about: string, divided: any, subject: string, after: [number, number], unit: string}} props `after`: first and last step of those after
 */
function Divided({ title, about, divided, subject, after, unit }) {
  if (!divided.parts.length) return null;
  /** @type {import("../table.js").Column[]} */
  const columns = [
    { key: "name", title: about, show: (p) => html`<a href=${link(subject, "rollouts", { step: after.join(".."), [about]: p.name })}><${Name} value=${p.name} /></a>` },
    { key: "adds", title: "adds", number: true, value: (p) => p.within + p.mix, show: (p) => html`<b class=${tone(p.within + p.mix)}>${signed(p.within + p.mix)}</b>` },
    { key: "reward_after", title: "reward", number: true, show: (p) => html`${change(p.reward_before, p.reward_after, "reward")}<div class="soft">${signed(p.within)}</div>` },
    { key: "share_after", title: "share", number: true, show: (p) => html`${change(p.share_before, p.share_after, "part")}<div class="soft">${signed(p.mix)}</div>` },
    ...RATES.filter(({ key }) => divided.parts.some((/** @type {any} */ p) => p.rates_before[key] >= SEEN || p.rates_after[key] >= SEEN)).map(({ key, title }) => ({
      key,
      title,
      number: true,
      minor: true,
      value: (/** @type {any} */ p) => p.rates_after[key],
      show: (/** @type {any} */ p) => change(p.rates_before[key], p.rates_after[key], "share"),
    })),
  ];
  /** @param {(part: any) => number} of */
  const sum = (of) => divided.parts.reduce((/** @type {number} */ n, /** @type {any} */ p) => n + of(p), 0);
  const rest = divided.rest.parts > 0 ? `, ${signed(divided.rest.change)} by others` : "";
  return html`<h3>${title}</h3>
    <p class="soft">
      What each adds to the change of ${signed(divided.after - divided.before)}: ${signed(sum((p) => p.within))} by their own rewards, ${signed(sum((p) => p.mix))} by their shares${rest}.
      Every one of the ${unit} counts once (${shown(sum((p) => p.weight_after))} after), not every step as above.
    </p>
    <${Table} label=${title} columns=${columns} rows=${divided.parts} id=${(/** @type {any} */ p) => p.name} />
    ${divided.rest.parts > 0 && html`<p class="soft">${shown(divided.rest.parts)} others: ${signed(divided.rest.change)}</p>`}`;
}

/**
 * @param {number[]} steps in order
 * @param {number} step
 */
function near(steps, step) {
  return [...steps.filter((s) => s < step).slice(-2), ...steps.filter((s) => s >= step).slice(0, 3)];
}

/**
 * @param {number | null | undefined} before
 * @param {number | null | undefined} after
 * @param {string} unit
 */
function change(before, after, unit) {
  const [a, b] = [amount(before, unit), amount(after, unit)];
  return a === b ? a : `${a.replace(" %", "")} → ${b}`;
}

/**
 * @param {number | null | undefined} value
 * @param {string} unit `reward`: to a thousandth; `part`: a share in whole percent; `share`: a share to a tenth of a percent
 */
function amount(value, unit) {
  if (value === null || value === undefined) return "–";
  if (unit === "reward") return value.toFixed(3);
  if (unit === "part") return `${(value * 100).toFixed(0)} %`;
  return unit === "share" ? `${(value * 100).toFixed(1)} %` : shown(value);
}

/** @param {number} value */
function tone(value) {
  return value <= -0.0005 ? "bad" : value >= 0.0005 ? "good" : "";
}

/** @param {number | null} z */
function inErrors(z) {
  return z === null ? "" : `, ${shown(Math.abs(z), 2)} standard errors`;
}
