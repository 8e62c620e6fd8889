// Shared parts of the evaluation's view: differences, claims, shares, choices, and placeholders.
import { html, signed } from "../lib.js";

/** @typedef {import("../router.js").Route} Route */
/** @typedef {[number, number] | null} Cell right and judged samples; null: the model was not asked */

/** @type {Record<string, string>} */
const SIGNS = { sustained: "▲", plateau: "▬", "sharpened only": "◆", fell: "▼", undecided: "?" };

/**
 * A placeholder for an answer that is loading or failed.
 * @param {{state: {data: any, error: string, loading: boolean}, what: string}} props
 */
export function Waiting({ state, what }) {
  if (state.error) return html`<p class="error" role="alert">${state.error}</p>`;
  if (state.data === null || state.data.state === "computing") return html`<p class="computing" role="status">computing ${what} …</p>`;
  return state.data.unfinished?.length > 0 && html`<p class="warn">Not in here, as they are not finished: ${state.data.unfinished.join(", ")}.</p>`;
}

/**
 * Format a rate or reward with three decimal places.
 * @param {number | null | undefined} value
 */
export function three(value) {
  return value === null || value === undefined ? "–" : value.toFixed(3);
}

/**
 * A paired difference with its interval.
 * @param {{of: any, digits?: number}} props
 */
export function Change({ of, digits = 3 }) {
  if (!of || of.count === 0) return html`<span class="none">–</span>`;
  const way = of.low > 0 ? "good" : of.high < 0 ? "bad" : "";
  /** @param {number} v */
  const text = (v) => signed(v, digits);
  return html`<span class="change ${digits === 3 ? way : ""}">${text(of.value)}</span> <span class="unit">[${text(of.low)}, ${text(of.high)}]</span>`;
}

/**
 * A paired difference drawn on an axis shared by all rows.
 * @param {{of: any, ends: [number, number]}} props
 */
export function Strip({ of, ends }) {
  if (!of || of.count === 0) return "";
  /** @param {number} v */
  const x = (v) => 2 + (116 * (v - ends[0])) / (ends[1] - ends[0]);
  return html`<svg class="strip" width="120" height="12" aria-hidden="true">
    <line class="null" x1=${x(0)} x2=${x(0)} y1="0" y2="12" /><line class="span" x1=${x(of.low)} x2=${x(of.high)} y1="6" y2="6" /><circle cx=${x(of.value)} cy="6" r="3" />
  </svg>`;
}

/** @param {{name: string}} props */
export function Regime({ name }) {
  return html`<span class="regime ${name.replace(" ", "-")}"><span aria-hidden="true">${SIGNS[name] ?? "?"} </span>${name}</span>`;
}

/** @param {{cell: Cell}} props */
export function Share({ cell }) {
  const p = rate(cell);
  if (cell === null) return html`<span class="none">–</span>`;
  return html`<span class="share h${p === null ? "none" : Math.ceil(p * 10)}">${cell[0]}<span class="of">/${cell[1]}</span></span>`;
}

/** @param {Cell} cell */
export function rate(cell) {
  return cell && cell[1] ? cell[0] / cell[1] : null;
}

/** @param {{route: Route, name: string, title: string, values: string[][]}} props */
export function Choice({ route, name, title, values }) {
  return html`<label>${title}<select value=${route.query[name] ?? ""} onChange=${(/** @type {any} */ e) => route.go({ [name]: e.target.value }, true)}>
    <option value="">any</option>
    ${values.map(([value, words]) => html`<option value=${value}>${words}</option>`)}
  </select></label>`;
}
