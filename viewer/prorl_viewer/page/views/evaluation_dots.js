// Plots each problem's share of right answers before and after; problems at the same place are one larger dot.
import { html, useLayoutEffect, useRef, useState } from "../lib.js";
import { rate } from "./evaluation_shared.js";

/** @typedef {import("./evaluation.js").Model} Model */
/** @typedef {import("./evaluation_problems.js").Matrix} Matrix */

const EDGE = { left: 48, right: 16, top: 16, bottom: 44 };
const TICKS = [0, 0.25, 0.5, 0.75, 1];
const WIDEST = 460;

/**
 * Return a problem's place in the plot, as written in the address.
 * @param {import("./evaluation_shared.js").Cell} before
 * @param {import("./evaluation_shared.js").Cell} after
 */
export function placeOf(before, after) {
  const [x, y] = [rate(before), rate(after)];
  return x === null || y === null ? "" : `${x.toFixed(3)},${y.toFixed(3)}`;
}

/** @param {{matrix: Matrix, models: Model[], route: import("../router.js").Route}} props */
export function Dots({ matrix, models, route }) {
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  const [width, setWidth] = useState(WIDEST);
  useLayoutEffect(() => {
    if (frame.current === null) return undefined;
    const watch = new ResizeObserver(([entry]) => setWidth(Math.min(WIDEST, Math.max(240, entry.contentRect.width))));
    watch.observe(frame.current);
    return () => watch.disconnect();
  }, [matrix.rows.length > 0]);
  const base = models[0];
  const last = models[models.length - 1];
  const [from, to] = [base, last].map((m) => matrix.keys.indexOf(m.key));
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const row of matrix.rows) {
    const place = placeOf(row.cells[from], row.cells[to]);
    if (place) counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  const dots = [...counts].map(([place, count]) => ({ place, count, x: Number(place.split(",")[0]), y: Number(place.split(",")[1]) }));
  if (!dots.length || base === last) return null;
  /** @param {(d: {x: number, y: number}) => boolean} which */
  const sum = (which) => dots.filter(which).reduce((all, d) => all + d.count, 0);
  const side = width - EDGE.left - EDGE.right;
  const height = side + EDGE.top + EDGE.bottom;
  /** @param {number} v */
  const x = (v) => EDGE.left + v * side;
  /** @param {number} v */
  const y = (v) => EDGE.top + (1 - v) * side;
  const [better, worse, same] = [sum((d) => d.y > d.x), sum((d) => d.y < d.x), sum((d) => d.y === d.x)];
  return html`<section class="dots-of"><h2>Problem by problem</h2>
    <p>${better} better, ${worse} worse, ${same} the same, of ${better + worse + same} problems. Above the diagonal: solved more often by ${last.label}.</p>
    <div ref=${frame}><svg class="dots" width=${width} height=${height} role="group" aria-label="problems, ${base.label} against ${last.label}">
      ${TICKS.map((v) => html`<g class="tick"><line x1=${x(0)} x2=${x(1)} y1=${y(v)} y2=${y(v)} /><line x1=${x(v)} x2=${x(v)} y1=${y(0)} y2=${y(1)} />
        <text x=${x(0) - 8} y=${y(v)} text-anchor="end" dominant-baseline="middle">${v}</text><text x=${x(v)} y=${y(0) + 16} text-anchor="middle">${v}</text></g>`)}
      <line class="same" x1=${x(0)} y1=${y(0)} x2=${x(1)} y2=${y(1)} />
      <text x=${x(0.5)} y=${height - 8} text-anchor="middle">right, ${base.label}</text>
      <text transform="translate(12 ${y(0.5)}) rotate(-90)" text-anchor="middle">right, ${last.label}</text>
      ${dots
        .sort((a, b) => b.count - a.count)
        .map((d) => html`<a href=${route.href({ tab: "problems", dot: d.place, by: "none" })} aria-label="${d.count} ${d.count === 1 ? "problem" : "problems"}, ${d.x} before, ${d.y} after"><title>${d.count} ${d.count === 1 ? "problem" : "problems"}: ${d.x} → ${d.y}</title>
          <circle class=${d.y > d.x ? "better" : d.y < d.x ? "worse" : "even"} cx=${x(d.x)} cy=${y(d.y)} r=${Math.min(3.5 * Math.sqrt(d.count), 18)} /></a>`)}
    </svg></div>
  </section>`;
}
