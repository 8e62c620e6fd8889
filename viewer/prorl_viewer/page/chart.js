// Curves over one axis with bands, marks and intervals: an SVG that can be read with the keyboard.
import { html, shown, useLayoutEffect, useMemo, useRef, useState } from "./lib.js";
import { Name } from "./text.js";

/** @typedef {[number, number | null]} Point */
/** @typedef {{name: string, points: Point[], low?: Point[], high?: Point[], raw?: Point[], dashed?: boolean, colour?: number, dots?: boolean}} Series
 *  `low` and `high` bound an interval; `raw` are the single values if `points` are means; `colour` (0 to 7) gives a name the same colour in several charts */
/** @typedef {{from: number, to: number, label: string}} Band */
/** @typedef {{x: number, label: string, id: string, calm?: boolean}} Mark `calm`: a scheduled event rather than trouble */

const HEIGHT = 208;
const EDGE = { left: 52, right: 18, top: 10, bottom: 34 };
const NEAR = 8; // marks closer than this many pixels are drawn as one
const MANY = 15; // with more marks than this, their lines are hidden
const KEY_STEPS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };

/**
 * @param {{
 *   title: string,
 *   series: Series[],
 *   bands?: Band[],
 *   marks?: Mark[],
 *   onMark?: (id: string) => void,
 *   chosen?: string,
 *   xLabel?: string,
 *   at?: number | null,
 *   onAt?: (x: number) => void,
 *   least?: number[] | null,
 *   log?: boolean,
 *   unit?: string,
 *   xRange?: [number, number],
 * }} props `chosen`: id of the open mark; `at`: the highlighted x; `onAt`: called with the x chosen by click or Enter; `least`:
 *   values that the y axis always includes; `log`: a base-2 logarithmic x axis (x > 0); `xRange`: the least range of the x axis, to align charts
 */
export function Chart({ title, series, bands = [], marks = [], onMark, chosen, xLabel = "step", at = null, onAt, least = null, log = false, unit = "", xRange }) {
  const [width, setWidth] = useState(600);
  const [here, setHere] = useState(/** @type {number | null} */ (null));
  const [hidden, setHidden] = useState(/** @type {string[]} */ ([]));
  const [asTable, setAsTable] = useState(false);
  /** @type {{current: HTMLElement | null}} */
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    if (frame.current === null) return undefined;
    const watch = new ResizeObserver(([entry]) => setWidth(Math.max(240, entry.contentRect.width)));
    watch.observe(frame.current);
    return () => watch.disconnect();
  }, []);

  const drawn = series.map((s, i) => ({ ...s, colour: (s.colour ?? i) % 8 })).filter((s) => !hidden.includes(s.name));
  const xs = useMemo(() => allX(series), [series]);
  const scale = axes(drawn, marks, width, least, log, xRange);
  const { x, y } = scale;
  const pointed = here ?? at;
  const nearest = pointed === null || !xs.length ? null : closest(xs, pointed);

  /** @param {PointerEvent} event */
  function pointAt(event) {
    const box = /** @type {Element} */ (event.currentTarget).getBoundingClientRect();
    setHere(scale.xOf(event.clientX - box.left));
  }

  /** @param {KeyboardEvent} event */
  function walk(event) {
    if (event.target !== event.currentTarget || !xs.length) return;
    const now = nearest === null ? 0 : xs.indexOf(nearest);
    if (event.key in KEY_STEPS) {
      event.preventDefault();
      const to = now + KEY_STEPS[/** @type {keyof typeof KEY_STEPS} */ (event.key)];
      setHere(xs[Math.min(xs.length - 1, Math.max(0, to))]);
    } else if (event.key === "Enter" && nearest !== null) {
      onAt?.(nearest);
    } else if (event.key === "Escape") {
      setHere(null);
    }
  }

  const groups = together(marks, (m) => x(m.x), NEAR);
  const bottom = HEIGHT - EDGE.bottom;
  return html`<figure class="chart" ref=${frame}>
    <figcaption>
      <h3>${title}${unit && html` <span class="unit">${unit}</span>`}</h3>
      <span class="reading" aria-live="polite">${nearest !== null && reading(drawn, nearest, xLabel)}</span>
      <button class="quiet" aria-pressed=${asTable} onClick=${() => setAsTable(!asTable)}>table</button>
    </figcaption>
    ${series.length > 1 &&
    html`<div class="legend">
      ${series.map((s, i) => {
        const off = hidden.includes(s.name);
        return html`<button
          class="key c${(s.colour ?? i) % 8} ${s.dashed ? "dashed" : ""}"
          aria-pressed=${!off}
          onClick=${() => setHidden(off ? hidden.filter((n) => n !== s.name) : [...hidden, s.name])}
        >
          <${Name} value=${s.name} />
        </button>`;
      })}
    </div>`}
    ${asTable
      ? html`<${Values} series=${drawn} xs=${xs} xLabel=${xLabel} title=${title} />`
      : html`<svg
          width=${width}
          height=${HEIGHT}
          viewBox="0 0 ${width} ${HEIGHT}"
          role="application"
          aria-label="${title}: ${drawn.map((s) => s.name).join(", ")} over ${xLabel}; arrow keys read values"
          tabindex="0"
          onPointerMove=${pointAt}
          onPointerLeave=${() => setHere(null)}
          onClick=${() => nearest !== null && onAt?.(nearest)}
          onKeyDown=${walk}
        >
          ${bands.map((b) => {
            const from = Math.max(EDGE.left, x(b.from));
            const to = Math.min(width - EDGE.right, x(b.to));
            return to > from && html`<rect class="band" x=${from} y=${EDGE.top} width=${Math.max(1, to - from)} height=${bottom - EDGE.top}><title>${b.label}</title></rect>`;
          })}
          ${scale.yTicks.map(
            (v) => html`<g class="tick"><line x1=${EDGE.left} x2=${width - EDGE.right} y1=${y(v)} y2=${y(v)} /><text x=${EDGE.left - 6} y=${y(v)} text-anchor="end" dominant-baseline="middle">${shown(v)}</text></g>`,
          )}
          ${scale.xTicks.map((v) => html`<g class="tick"><text x=${x(v)} y=${bottom + 16} text-anchor="middle">${shown(v, 4)}</text></g>`)}
          <text class="axis" x=${width - EDGE.right} y=${HEIGHT - 4} text-anchor="end">${xLabel}</text>
          ${drawn.map((s) => s.low && s.high && html`<path class="range c${s.colour}" d=${area(s.low, s.high, x, y)} />`)}
          ${drawn.map((s) => s.raw && html`<path class="line raw c${s.colour}" d=${line(s.raw, x, y)} />`)}
          ${drawn.map((s) => html`<path class="line c${s.colour} ${s.dashed ? "dashed" : ""}" d=${line(s.points, x, y)} />`)}
          ${drawn.map((s) => lonely(s).map(([px, py]) => html`<circle class="dot c${s.colour}" cx=${x(px)} cy=${y(py)} r="2.5" />`))}
          ${nearest !== null &&
          html`<line class="here" x1=${x(nearest)} x2=${x(nearest)} y1=${EDGE.top} y2=${bottom} />${drawn.map((s) => {
            const value = valueAt(s.points, nearest);
            return value !== null && html`<circle class="dot c${s.colour}" cx=${x(nearest)} cy=${y(value)} r="3.5" />`;
          })}`}
          ${groups.map(
            (group, i) => html`<g
              class="mark ${group.every((m) => m.calm) ? "calm" : ""} ${group.some((m) => m.id === chosen) ? "chosen" : ""}"
              role="button"
              tabindex=${i === 0 ? 0 : -1}
              aria-label=${group.map((m) => m.label).join("; ")}
              onClick=${(/** @type {Event} */ e) => {
                e.stopPropagation();
                onMark?.(group[0].id);
              }}
              onKeyDown=${(/** @type {KeyboardEvent} */ e) => {
                toNeighbour(e);
                if (e.key !== "Enter" && e.key !== " ") return;
                e.preventDefault();
                e.stopPropagation();
                onMark?.(group[0].id);
              }}
            >
              <title>${group.map((m) => m.label).join("\n")}</title>
              <line class=${groups.length > MANY ? "many" : ""} x1=${x(group[0].x)} x2=${x(group[0].x)} y1=${EDGE.top} y2=${bottom} />
              <path d="M ${x(group[0].x) - 5} ${EDGE.top - 9} h 10 l -5 9 z" />
              <rect class="touch" x=${x(group[0].x) - 8} y="0" width="16" height=${bottom} />
            </g>`,
          )}
        </svg>`}
  </figure>`;
}

/**
 * @param {{series: Series[], xs: number[], xLabel: string, title: string}} props
 */
function Values({ series, xs, xLabel, title }) {
  const every = Math.ceil(xs.length / 200);
  return html`<div class="table chart-values" tabindex="0" role="region" aria-label="${title} as a table">
    <table>
      <thead>
        <tr><th class="number">${xLabel}</th>${series.map((s) => html`<th class="number">${s.name}</th>`)}</tr>
      </thead>
      <tbody>
        ${xs
          .filter((_, i) => i % every === 0)
          .map((v) => html`<tr><td class="number">${shown(v, 6)}</td>${series.map((s) => html`<td class="number">${shown(valueAt(s.points, v), 4)}</td>`)}</tr>`)}
      </tbody>
    </table>
  </div>`;
}

/**
 * @param {Series[]} series
 * @param {number} at
 * @param {string} xLabel
 */
function reading(series, at, xLabel) {
  const values = series.map((s) => [s.name, valueAt(s.points, at)]).filter(([, v]) => v !== null);
  return `${xLabel} ${shown(at, 6)}: ${values.map(([n, v]) => (series.length > 1 ? `${n} ` : "") + shown(/** @type {number} */ (v), 4)).join(" · ")}`;
}

/**
 * Move the focus from a mark to its neighbour with the arrow keys.
 * @param {KeyboardEvent} event
 */
function toNeighbour(event) {
  const way = { ArrowLeft: "previousElementSibling", ArrowRight: "nextElementSibling" }[event.key];
  if (way === undefined) return;
  event.preventDefault();
  const next = /** @type {any} */ (event.currentTarget)[way];
  if (next?.classList.contains("mark")) next.focus();
}

/** @param {Series[]} series */
function allX(series) {
  const found = new Set(series.flatMap((s) => s.points.filter(([, v]) => v !== null).map(([px]) => px)));
  return [...found].sort((a, b) => a - b);
}

/**
 * @param {number[]} xs in order
 * @param {number} wanted
 */
function closest(xs, wanted) {
  let low = 0;
  let high = xs.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (xs[middle] < wanted) low = middle;
    else high = middle;
  }
  return wanted - xs[low] <= xs[high] - wanted ? xs[low] : xs[high];
}

/**
 * @param {Point[]} points
 * @param {number} at
 */
function valueAt(points, at) {
  return points.find(([px]) => px === at)?.[1] ?? null;
}

/**
 * @param {Series[]} series
 * @param {Mark[]} marks
 * @param {number} width
 * @param {number[] | null} least
 * @param {boolean} log
 * @param {[number, number]} [xRange]
 */
function axes(series, marks, width, least, log, xRange) {
  const place = log ? Math.log2 : (/** @type {number} */ v) => v;
  const unplace = log ? (/** @type {number} */ v) => 2 ** v : place;
  const points = series.flatMap((s) => [...s.points, ...(s.raw ?? []), ...(s.low ?? []), ...(s.high ?? [])]).filter(([, v]) => v !== null);
  const px = [...points.map((p) => place(p[0])), ...(points.length ? [] : marks.map((m) => place(m.x)))];
  const py = points.map((p) => /** @type {number} */ (p[1]));
  let [x0, x1] = extent([...px, ...(xRange ?? []).map(place)]);
  let [y0, y1] = extent([...py, ...(least ?? [])]);
  if (x0 === x1) [x0, x1] = [x0 - 1, x1 + 1];
  if (y0 === 0 && y1 === 0) y1 = 1;
  if (y0 === y1) [y0, y1] = [y0 - Math.max(Math.abs(y0) * 0.1, 1e-6), y1 + Math.max(Math.abs(y1) * 0.1, 1e-6)];
  const yTicks = ticks(y0, y1, 5);
  const gap = yTicks.length > 1 ? yTicks[1] - yTicks[0] : y1 - y0;
  y0 = Math.min(y0, Math.floor(y0 / gap + 1e-9) * gap);
  y1 = Math.max(y1, Math.ceil(y1 / gap - 1e-9) * gap);
  const w = width - EDGE.left - EDGE.right;
  const h = HEIGHT - EDGE.top - EDGE.bottom;
  return {
    /** @param {number} v */
    x: (v) => EDGE.left + ((place(v) - x0) / (x1 - x0)) * w,
    /** @param {number} v */
    y: (v) => EDGE.top + (1 - (v - y0) / (y1 - y0)) * h,
    /** @param {number} pixel */
    xOf: (pixel) => unplace(x0 + ((pixel - EDGE.left) / w) * (x1 - x0)),
    xTicks: ticks(x0, x1, Math.max(2, Math.floor(w / 90))).map(unplace).filter((v) => !log || Number.isInteger(v)),
    yTicks: ticks(y0, y1, 5),
  };
}

/** @param {number[]} values @returns {[number, number]} */
function extent(values) {
  if (!values.length) return [0, 1];
  return values.reduce(([low, high], v) => [Math.min(low, v), Math.max(high, v)], [values[0], values[0]]);
}

/**
 * Return about `count` round numbers between `low` and `high`.
 * @param {number} low
 * @param {number} high
 * @param {number} count
 */
function ticks(low, high, count) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const gap = [1, 2, 5, 10].map((m) => m * power).find((g) => g >= raw * 0.999) ?? raw;
  const found = [];
  for (let i = Math.ceil(low / gap - 1e-9); i * gap <= high + gap * 1e-9; i++) found.push(Number((i * gap).toPrecision(12)));
  return found;
}

/**
 * @param {Point[]} points
 * @param {(v: number) => number} x
 * @param {(v: number) => number} y
 */
function line(points, x, y) {
  let pen = "M";
  let path = "";
  for (const [px, py] of points) {
    if (py === null) {
      pen = "M";
    } else {
      path += `${pen}${x(px).toFixed(1)} ${y(py).toFixed(1)}`;
      pen = "L";
    }
  }
  return path;
}

/**
 * @param {Point[]} low
 * @param {Point[]} high
 * @param {(v: number) => number} x
 * @param {(v: number) => number} y
 */
function area(low, high, x, y) {
  const there = /** @type {[number, number][]} */ (low.filter(([, v]) => v !== null));
  const back = /** @type {[number, number][]} */ (high.filter(([, v]) => v !== null).reverse());
  const edge = [...there, ...back].map(([px, py]) => `${x(px).toFixed(1)} ${y(py).toFixed(1)}`);
  return edge.length ? `M${edge.join("L")}Z` : "";
}

/**
 * Return the points without a line to a neighbour, or all points of a series of dots.
 * @param {Series} s
 * @returns {[number, number][]}
 */
function lonely(s) {
  const alone = (/** @type {number} */ i) => (s.points[i - 1]?.[1] ?? null) === null && (s.points[i + 1]?.[1] ?? null) === null;
  return /** @type {[number, number][]} */ (s.points.filter(([, v], i) => v !== null && (s.dots || alone(i))));
}

/**
 * Group the marks that are so close that they would overlap.
 * @template T
 * @param {T[]} marks
 * @param {(mark: T) => number} place
 * @param {number} near
 */
export function together(marks, place, near) {
  /** @type {T[][]} */
  const groups = [];
  for (const mark of [...marks].sort((a, b) => place(a) - place(b))) {
    const last = groups.at(-1);
    if (last && place(mark) - place(last[0]) < near) last.push(mark);
    else groups.push([mark]);
  }
  return groups;
}
