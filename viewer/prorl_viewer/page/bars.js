// Stacked bars of counts, built as a table so that screen readers read the numbers.
import { html, shown } from "./lib.js";

const WIDTH = 240;

/**
 * @param {{title: string, bars: string[], rows: Record<string, number[]>}} props `rows`: a count for each bar, by name
 */
export function Bars({ title, bars, rows }) {
  const names = Object.keys(rows);
  const totals = bars.map((_, i) => names.reduce((sum, name) => sum + rows[name][i], 0));
  const most = Math.max(1, ...totals);
  const first = totals.findIndex((n) => n > 0);
  const last = totals.reduce((found, n, i) => (n > 0 ? i : found), -1);
  if (first < 0) return null;
  return html`<figure class="bars">
    <figcaption><h3>${title}</h3></figcaption>
    <table>
      <thead class="visually-hidden"><tr><th>${title}</th><th>bar</th><th>rows</th></tr></thead>
      <tbody>
        ${bars.slice(first, last + 1).map((bar, j) => {
          const i = first + j;
          let from = 0;
          return html`<tr>
            <th scope="row">${bar}</th>
            <td class="bar">
              <svg viewBox="0 0 ${WIDTH} 14" preserveAspectRatio="none" role="img" aria-label=${said(names, rows, i)}>
                ${names.map((name, colour) => {
                  const width = (rows[name][i] / most) * WIDTH;
                  const x = from;
                  from += width;
                  return width > 0 && html`<rect class="dot c${colour % 8}" x=${x} y="1" width=${width} height="12"><title>${name} ${shown(rows[name][i])}</title></rect>`;
                })}
              </svg>
            </td>
            <td class="number">${shown(totals[i])}</td>
          </tr>`;
        })}
      </tbody>
    </table>
  </figure>`;
}

/**
 * @param {string[]} names
 * @param {Record<string, number[]>} rows
 * @param {number} i
 */
function said(names, rows, i) {
  return names
    .filter((name) => rows[name][i] > 0)
    .map((name) => `${name} ${shown(rows[name][i])}`)
    .join(", ") || "none";
}

/** The legend of the bars' colours.
 * @param {{names: string[]}} props
 */
export function BarKeys({ names }) {
  return html`<p class="bar-keys">${names.map((name, colour) => html`<span class="bar-key c${colour % 8}">${name}</span>`)}</p>`;
}
