// Shows whether a run learned: its state, gain with interval, sparkline, and evaluations in one line.
import { useData } from "../data.js";
import { html, shown, signed } from "../lib.js";
import { link } from "../router.js";
import { Name } from "../text.js";

/** @typedef {{first: number, last: number, before: number, after: number, value: number, low: number | null, high: number | null, paired: number, best: number, best_step: number}} Gained */

const TONES = /** @type {Record<string, string>} */ ({ rose: "good", fell: "bad" });

/** @param {{of: {state: string, state_words: string}}} props */
export function State({ of }) {
  return html`<span class="state ${of.state}">${of.state_words}</span>`;
}

/**
 * A gain with its 95 % interval, in green or red if the interval excludes 0.
 * @param {{of: Gained | null, verdict: string}} props
 */
export function Gain({ of, verdict }) {
  if (!of) return html`<span class="none">–</span>`;
  return html`<span class="gain"><b class=${TONES[verdict] ?? ""}>${signed(of.value, 2)}</b>${of.low !== null && of.high !== null && html` <span class="unit">[${signed(of.low, 2)}, ${signed(of.high, 2)}]</span>`}</span>`;
}

/**
 * A line on an axis from 0 to 1, with a dot at its end.
 * @param {{line: {of: string, points: [number, number][]}, width?: number, height?: number}} props
 */
export function Spark({ line, width = 136, height = 36 }) {
  const { points } = line;
  if (!points.length) return html`<span class="none">–</span>`;
  const [first, last] = [points[0][0], points[points.length - 1][0]];
  /** @param {number} step */
  const x = (step) => 2 + ((width - 6) * (step - first)) / Math.max(last - first, 1);
  /** @param {number} value */
  const y = (value) => height - 2 - (height - 4) * Math.min(Math.max(value, 0), 1);
  const end = points[points.length - 1];
  const what = line.of === "validation_reward" ? "validation" : "training reward";
  return html`<svg class="spark" width=${width} height=${height} viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${what} from ${shown(points[0][1])} to ${shown(end[1])}">
    <title>${what}, axis from 0 to 1</title>
    <rect x="0" y="0" width=${width} height=${height} rx="3" />
    <path class=${line.of === "validation_reward" ? "" : "training"} d=${points.map(([s, v], i) => `${i ? "L" : "M"}${x(s).toFixed(1)} ${y(v).toFixed(1)}`).join("")} />
    ${line.of === "validation_reward" && html`<circle cx=${x(end[0])} cy=${y(end[1])} r="2.5" />`}
  </svg>`;
}

/**
 * One line on an evaluation, with pass@1 of the first and the last model.
 * @param {{name: string}} props
 */
export function Evaluated({ name }) {
  const { data, error } = useData(name, "summary");
  /** @param {any} model */
  const one = (model) => model?.scores.find((/** @type {any} */ s) => s.group === "overall")?.metrics["pass@1"]?.value;
  const models = (data?.each ?? []).filter((/** @type {any} */ m) => one(m) !== undefined);
  const values = (models.length > 1 ? [models[0], models[models.length - 1]] : models).map(one);
  return html`<a href=${link(name, "evaluation")}><${Name} value=${name} /></a>
    <span class="soft"> ${error}${values.length > 0 && `pass@1 ${values.map((/** @type {number} */ v) => v.toFixed(2)).join(" → ")} · `}${data && `${shown(data.problems)} problems, ${data.models} ${data.models === 1 ? "model" : "models"}`}</span>`;
}
