// The rows of a dataset: filters (kept in the address), a list, and one row beside it.
import { exported, useData } from "../data.js";
import { Field } from "../field.js";
import { html, shown, useEffect, useKey, useState } from "../lib.js";
import { Table } from "../table.js";
import { Text } from "../text.js";
import { titled } from "./dataset_labels.js";
import { Row } from "./dataset_row.js";

/** @typedef {import("../router.js").Route} Route */

const WINDOW = 100; // rows of a list
const NARROW = "(max-width: 700px)";
const SHOWN = ["domain", "family"]; // filters that a phone shows without a click
const LABELS = ["split", "domain", "family", "level", "source", "verifier", "gold_check", "licence"];
const KEYS = [...LABELS, "entry", "q", "rated", "rate_from", "rate_to"];
const NO_FILTER = Object.fromEntries([...KEYS, "offset"].map((key) => [key, null]));

/** @param {{subject: string, route: Route}} props */
export function Rows({ subject, route }) {
  const asked = exported ? ["domain"] : [...KEYS, "sort", "down", "offset"];
  const query = Object.fromEntries(asked.map((key) => [key, route.query[key]]));
  const { data, error, loading } = useData(subject, "rows", query);
  const open = route.query.row;
  const ids = (data?.rows ?? []).map((/** @type {any} */ row) => row.id);
  useSteps(open, ids, route);
  return html`<div class="ds-split ${open ? "ds-open" : ""}">
    <section class="ds-list" aria-label="rows">
      <${Filters} route=${route} data=${data} />
      ${error && html`<p class="error" role="alert">${error}</p>`}
      ${data && html`<${List} data=${data} route=${route} loading=${loading} open=${open} />`}
      ${!data && !error && html`<p class="none">reading the rows …</p>`}
    </section>
    ${open && html`<${Row} key=${open} subject=${subject} id=${open} route=${route} ids=${ids} />`}
  </div>`;
}

/**
 * While a row is open, j and k go to the next and previous row, and Esc closes it.
 * @param {string | undefined} open
 * @param {string[]} ids
 * @param {Route} route
 */
function useSteps(open, ids, route) {
  useKey((event) => {
    if (!open || event.defaultPrevented) return;
    const step = { j: 1, k: -1 }[event.key];
    const to = step && ids[ids.indexOf(open) + step];
    if (to) route.go({ row: to }, true);
    if (event.key === "Escape") route.go({ row: null });
  });
}

/** Return whether the window is as narrow as a phone's. */
function useNarrow() {
  const [narrow, set] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const media = matchMedia(NARROW);
    const tell = () => set(media.matches);
    media.addEventListener("change", tell);
    return () => media.removeEventListener("change", tell);
  }, []);
  return narrow;
}

/** @param {{route: Route, data: any}} props */
function Filters({ route, data }) {
  const { query } = route;
  /** @param {Record<string, string | null>} changes */
  const set = (changes) => route.go({ ...changes, offset: null });
  const used = KEYS.some((key) => query[key]);
  const phone = useNarrow();
  const folded = KEYS.some((key) => query[key] && ![...SHOWN, "q"].includes(key));
  /** @param {string[]} keys */
  const choices = (keys) =>
    keys.map(
      (key) => html`<${Choice} key=${key} title=${titled(key)} value=${query[key] ?? ""} counts=${data?.counts[key]} onChange=${(/** @type {string} */ v) => set({ [key]: v })} />`,
    );
  const more = html`${choices(LABELS.filter((key) => !SHOWN.includes(key)))}
    ${data?.rated > 0 &&
    html`<${Bound} title="pass rate from" value=${query.rate_from} onChange=${(/** @type {string} */ v) => set({ rate_from: v })} />
      <${Bound} title="to" value=${query.rate_to} onChange=${(/** @type {string} */ v) => set({ rate_to: v })} />`}`;
  return html`<form class="filters" onSubmit=${(/** @type {Event} */ e) => e.preventDefault()}>
    ${!exported && html`<${Field} title="text of question or id" value=${query.q ?? ""} told=${(/** @type {string} */ q) => route.go({ q, offset: null }, true)} first look="ds-search" />`}
    ${choices(exported ? ["domain"] : SHOWN)} ${!exported && (phone ? html`<details open=${folded}><summary>more filters</summary><div class="filters">${more}</div></details>` : more)}
    ${query.entry && html`<span class="note">entry ${query.entry}</span>`}
    ${used && html`<button type="button" onClick=${() => route.go(NO_FILTER)}>clear</button>`}
  </form>`;
}

/** @param {{title: string, value: string, counts?: Record<string, number>, onChange: (value: string) => void}} props */
function Choice({ title, value, counts = {}, onChange }) {
  const values = Object.keys(counts).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  if (value && !values.includes(value)) values.unshift(value);
  if (values.length < 2 && !value) return null;
  return html`<label>
    ${title}
    <select onChange=${(/** @type {any} */ e) => onChange(e.target.value)}>
      <option value="" selected=${value === ""}>all</option>
      ${values.map((v) => html`<option key=${v} value=${v} selected=${v === value}>${v} (${shown(counts[v] ?? 0)})</option>`)}
    </select>
  </label>`;
}

/** @param {{title: string, value?: string, onChange: (value: string) => void}} props */
function Bound({ title, value = "", onChange }) {
  return html`<label>
    ${title}
    <input type="number" min="0" max="1" step="0.05" value=${value} onChange=${(/** @type {any} */ e) => onChange(e.target.value)} />
  </label>`;
}

/** @param {{data: any, route: Route, loading: boolean, open?: string}} props */
function List({ data, route, loading, open }) {
  const narrow = useNarrow() || Boolean(open);
  const has = (/** @type {string} */ key) => data.rows.some((/** @type {any} */ row) => row[key] !== null);
  /** @type {import("../table.js").Column[]} */
  const columns = [
    { key: "id", title: "row", show: (row) => html`<span class=${narrow ? "ds-id" : "ds-id whole"}>${row.id}</span>` },
    ...(narrow || !has("level") ? [] : [{ key: "level", title: "level" }]),
    ...(narrow ? [] : [{ key: "gold_check", title: "gold check" }]),
    ...(has("rate") ? [{ key: "rate", title: "pass rate", number: true, show: (/** @type {any} */ row) => shown(row.rate) }] : []),
    ...(narrow ? [] : [{ key: "characters", title: "characters", number: true, show: (/** @type {any} */ row) => shown(row.characters) }]),
    { key: "prompt", title: "question", wide: true, show: (row) => html`<${Text} value=${row.prompt} inline />` },
  ];
  /**
   * @param {string} key
   * @param {boolean} down
   */
  const sort = (key, down) => route.go({ sort: ["id", "prompt"].includes(key) ? null : key, down: down ? 1 : null, offset: null });
  return html`<${Pager} data=${data} route=${route} loading=${loading} />
    <${Table}
      label="rows of the dataset"
      columns=${columns}
      rows=${data.rows}
      id=${(/** @type {any} */ row) => row.id}
      chosen=${open}
      sorted=${{ key: route.query.sort ?? "id", down: route.query.down === "1" }}
      onSort=${exported ? undefined : sort}
      onOpen=${(/** @type {any} */ row) => route.go({ row: row.id })}
      empty="no row passes these filters"
    />`;
}

/** @param {{data: any, route: Route, loading: boolean}} props */
function Pager({ data, route, loading }) {
  const { offset, total, all, rows } = data;
  const last = offset + rows.length;
  const counted = total === all ? `${shown(total)} rows` : `${shown(total)} of ${shown(all)} rows`;
  return html`<p class="ds-pager" aria-live="polite">
    <span>${counted}${rows.length < total ? `, ${shown(offset + 1)} to ${shown(last)} shown` : ""}${loading ? " …" : ""}</span>
    ${!exported &&
    rows.length < total &&
    html`<button disabled=${offset === 0} onClick=${() => route.go({ offset: Math.max(0, offset - WINDOW) || null })}>previous ${WINDOW}</button>
      <button disabled=${last >= total} onClick=${() => route.go({ offset: offset + WINDOW })}>next ${WINDOW}</button>`}
  </p>`;
}
