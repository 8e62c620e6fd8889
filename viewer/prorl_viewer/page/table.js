// A table that sorts by column heads, moves with the arrow keys, and draws only the visible part of a long list.
import { html, useMemo, useRef, useState } from "./lib.js";
import { Name } from "./text.js";

/** @typedef {import("./lib.js").Child} Child */
/**
 * @typedef {{
 *   key: string,
 *   title: string,
 *   value?: (row: any) => string | number | null | undefined,
 *   show?: (row: any) => Child,
 *   number?: boolean,
 *   wide?: boolean,
 *   minor?: boolean,
 * }} Column `value` is the sort value (default: the row's `key`), `show` the displayed content; `minor` columns are hidden on a phone
 */

const WHOLE = 200; // up to this many rows, all are drawn
const ROW = 34; // height of a row of a longer table, in pixels
const AROUND = 12; // rows drawn above and below the visible ones

/**
 * @param {{
 *   columns: Column[],
 *   rows: any[],
 *   label: string,
 *   id?: (row: any) => string,
 *   chosen?: string,
 *   onOpen?: (row: any) => void,
 *   sorted?: {key: string, down: boolean},
 *   onSort?: (key: string, down: boolean) => void,
 *   empty?: string,
 * }} props `onSort`: someone else sorts, the server for example; else the table does
 */
export function Table({ columns, rows, label, id, chosen, onOpen, sorted, onSort, empty = "nothing" }) {
  const [own, setOwn] = useState({ key: "", down: false });
  const [top, setTop] = useState(0);
  /** @type {{current: HTMLElement | null}} */
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  const order = sorted ?? own;
  const shownRows = useMemo(() => (onSort ? rows : inOrder(rows, columns, order)), [rows, columns, order.key, order.down, onSort]);

  /** @param {string} key */
  function sortBy(key) {
    const column = columns.find((c) => c.key === key);
    const down = order.key === key ? !order.down : column?.number ?? false;
    if (onSort) onSort(key, down);
    else setOwn({ key, down });
  }

  const long = shownRows.length > WHOLE;
  const height = frame.current?.clientHeight ?? 600;
  const from = long ? Math.max(0, Math.floor(top / ROW) - AROUND) : 0;
  const to = long ? Math.min(shownRows.length, Math.ceil((top + height) / ROW) + AROUND) : shownRows.length;

  /** @param {KeyboardEvent} event */
  function walk(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const row = target.closest("tr");
    if (row === null || !row.dataset.at || target !== row) return;
    const at = Number(row.dataset.at);
    const steps = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 };
    if (event.key in steps) {
      event.preventDefault();
      focusRow(at + steps[/** @type {keyof typeof steps} */ (event.key)]);
    } else if (event.key === "Enter" && onOpen) {
      onOpen(shownRows[at]);
    }
  }

  /** @param {number} at */
  function focusRow(at) {
    if (at < 0 || at >= shownRows.length || frame.current === null) return;
    if (long) {
      const y = at * ROW;
      if (y < frame.current.scrollTop) frame.current.scrollTop = y;
      if (y + 2 * ROW > frame.current.scrollTop + height) frame.current.scrollTop = y + 2 * ROW - height;
    }
    requestAnimationFrame(() => /** @type {HTMLElement | null} */ (frame.current?.querySelector(`tr[data-at="${at}"]`))?.focus());
  }

  if (!shownRows.length) return html`<p class="none">${empty}</p>`;
  return html`<div
    class="table ${long ? "long" : ""}"
    ref=${frame}
    tabindex=${long ? 0 : undefined}
    role="region"
    aria-label=${label}
    onScroll=${long ? (/** @type {Event} */ e) => setTop(/** @type {HTMLElement} */ (e.currentTarget).scrollTop) : undefined}
    onKeyDown=${walk}
  >
    <table aria-rowcount=${shownRows.length}>
      <thead>
        <tr>
          ${columns.map(
            (c) => html`<th class="${c.number ? "number" : ""} ${c.minor ? "minor" : ""}" aria-sort=${order.key === c.key ? (order.down ? "descending" : "ascending") : undefined}>
              <button onClick=${() => sortBy(c.key)}>${c.title}${order.key === c.key ? (order.down ? "\u00a0↓" : "\u00a0↑") : ""}</button>
            </th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${from > 0 && html`<tr class="gap" aria-hidden="true"><td colspan=${columns.length} height=${from * ROW}></td></tr>`}
        ${shownRows.slice(from, to).map((row, i) => {
          const name = id?.(row);
          return html`<tr
            key=${name ?? from + i}
            data-at=${from + i}
            class=${name !== undefined && name === chosen ? "chosen" : ""}
            tabindex=${onOpen ? 0 : undefined}
            onClick=${onOpen ? () => onOpen(row) : undefined}
          >
            ${columns.map((c) => html`<td class="${c.number ? "number" : ""} ${c.wide ? "wide" : ""} ${c.minor ? "minor" : ""}">${c.show ? c.show(row) : plain(valueOf(c, row))}</td>`)}
          </tr>`;
        })}
        ${to < shownRows.length &&
        html`<tr class="gap" aria-hidden="true"><td colspan=${columns.length} height=${(shownRows.length - to) * ROW}></td></tr>`}
      </tbody>
    </table>
  </div>`;
}

/** @param {string | number | null | undefined} value */
function plain(value) {
  return typeof value === "number" ? value : html`<${Name} value=${value} />`;
}

/**
 * @param {Column} column
 * @param {any} row
 */
function valueOf(column, row) {
  return column.value ? column.value(row) : row[column.key];
}

/**
 * @param {any[]} rows
 * @param {Column[]} columns
 * @param {{key: string, down: boolean}} order
 */
function inOrder(rows, columns, order) {
  const column = columns.find((c) => c.key === order.key);
  if (column === undefined) return rows;
  return rows
    .map((row, at) => ({ row, at, value: valueOf(column, row) }))
    .sort((a, b) => compared(a.value, b.value, order.down) || a.at - b.at)
    .map((r) => r.row);
}

/**
 * Compare two values; missing ones come last in either direction.
 * @param {any} a
 * @param {any} b
 * @param {boolean} down
 */
export function compared(a, b, down) {
  const gone = Number(a === null || a === undefined) - Number(b === null || b === undefined);
  if (gone) return gone;
  const way = a < b ? -1 : a > b ? 1 : 0;
  return down ? -way : way;
}
