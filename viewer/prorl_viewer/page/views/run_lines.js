// Lines of several runs for one chart, over steps, tokens or hours.
/** @typedef {{name: string, title: string, unit: string, section: string, about: string, by: string[], least: number[] | null, first: boolean, smooth: boolean}} ChartInfo */
/** @typedef {{name: string, points: [number, number][], raw?: [number, number][], band?: [number, number, number][]}} Line */
/** @typedef {{step: number[], tokens: (number | null)[], hours: number[]}} Axes values at the same places, in order */
/** @typedef {import("../data.js").Answer} Answer */
/** @typedef {((step: number) => number) & {label: string}} Scaled */

export const AXES = /** @type {Record<string, string>} */ ({ step: "step", tokens: "tokens", hours: "hours of steps" });
const MILLIONS = 2e6; // from this many tokens on, the axis is in millions
const DOTS = 40; // up to this many points, each is drawn as a dot

/**
 * Return the position of a step on an axis.
 * @param {Axes} axes
 * @param {string} axis
 * @returns {Scaled}
 */
export function over(axes, axis) {
  if (axis === "step") return Object.assign((/** @type {number} */ step) => step, { label: AXES.step });
  const to = valuesOf(axes, axis);
  const divisor = axis === "tokens" && to[to.length - 1] > MILLIONS ? 1e6 : 1;
  return Object.assign((/** @type {number} */ step) => between(axes.step, to, step) / divisor, {
    label: divisor > 1 ? "million tokens" : AXES[axis],
  });
}

/**
 * Return the step at a position on an axis.
 * @param {Axes} axes
 * @param {string} axis
 * @param {number} x
 */
export function stepAt(axes, axis, x) {
  if (axis === "step") return Math.round(x);
  const from = valuesOf(axes, axis);
  const divisor = axis === "tokens" && from[from.length - 1] > MILLIONS ? 1e6 : 1;
  return Math.max(1, Math.round(between(from, axes.step, x * divisor)));
}

/**
 * @param {Axes} axes
 * @param {string} axis
 */
function valuesOf(axes, axis) {
  return axis === "tokens" ? axes.tokens.map((v) => v ?? 0) : axis === "hours" ? axes.hours : axes.step;
}

/**
 * @param {number[]} from in order
 * @param {number[]} to
 * @param {number} at
 */
function between(from, to, at) {
  let low = 0;
  let high = from.length - 1;
  if (high < 1 || at <= from[0]) return to[0] ?? 0;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (from[middle] <= at) low = middle;
    else high = middle;
  }
  const gap = from[high] - from[low];
  return gap ? to[low] + ((at - from[low]) / gap) * (to[high] - to[low]) : to[low];
}

/**
 * Return the range of steps in the address, or null for all steps.
 * @param {Record<string, string>} query
 * @returns {[number, number] | null}
 */
export function zoomOf(query) {
  return query.from && query.to ? [Number(query.from), Number(query.to)] : null;
}

/**
 * Return the series of a chart. With one line per run, each run has a colour. Otherwise each line name has a colour, and later runs are dashed.
 * @param {Answer[]} found
 * @param {(Scaled | undefined)[]} scaled one for each run
 * @param {[number, number] | null} zoom
 */
export function seriesOf(found, scaled, zoom) {
  /** @param {[number, ...number[]]} point */
  const inside = ([s]) => !zoom || (s >= zoom[0] && s <= zoom[1]);
  const names = [...new Set(found.flatMap((f) => (f.data?.lines ?? []).map((/** @type {Line} */ l) => l.name)))];
  const single = names.length <= 1;
  return found.flatMap((run, place) => {
    const at = scaled[place];
    if (!at) return [];
    return (run.data?.lines ?? []).map((/** @type {Line} */ line) => ({
      name: found.length === 1 ? line.name : single ? run.name : `${line.name} · ${run.name}`,
      points: line.points.filter(inside).map(([s, v]) => [at(s), v]),
      raw: line.raw?.filter(inside).map(([s, v]) => [at(s), v]),
      dots: line.points.length <= DOTS,
      low: line.band?.filter(inside).map(([s, low]) => [at(s), low]),
      high: line.band?.filter(inside).map(([s, , high]) => [at(s), high]),
      colour: single ? place : names.indexOf(line.name),
      dashed: place > 0 && !single,
    }));
  });
}

/**
 * Merge runs that differ only in the seed: the mean of their lines, with a band from minimum to maximum.
 * @param {import("../chart.js").Series[]} series one a run
 * @param {string[]} arms the settings of each, without the seed
 * @returns {import("../chart.js").Series[]}
 */
export function inArms(series, arms) {
  return [...new Set(arms)].map((arm, colour) => {
    const members = series.filter((_, i) => arms[i] === arm);
    const longest = members.reduce((a, b) => (b.points.length > a.points.length ? b : a));
    if (members.length < 2) return { ...longest, colour };
    const lines = members.map((m) => /** @type {[number, number][]} */ (m.points.filter(([, v]) => v !== null))).filter((m) => m.length > 1);
    const rows = longest.points.map(([x]) => {
      const values = lines.filter((l) => l[0][0] <= x && x <= l[l.length - 1][0]).map((l) => between(l.map((p) => p[0]), l.map((p) => p[1]), x));
      const mean = values.length ? values.reduce((a, b) => a + b, 0) / values.length : null;
      return { x, mean, low: values.length ? Math.min(...values) : null, high: values.length ? Math.max(...values) : null };
    });
    return {
      name: `${longest.name} and ${members.length - 1} other ${members.length > 2 ? "seeds" : "seed"}`,
      points: rows.map((r) => [r.x, r.mean]),
      low: rows.map((r) => [r.x, r.low]),
      high: rows.map((r) => [r.x, r.high]),
      dots: longest.dots,
      colour,
    };
  });
}
