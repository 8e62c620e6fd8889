// A table of problems by models, with each model's number of right samples, filters, sorting and groups.
import { exported, useData } from "../data.js";
import { Field } from "../field.js";
import { html, signed, useMemo } from "../lib.js";
import { compared, Table } from "../table.js";
import { Text } from "../text.js";
import { placeOf } from "./evaluation_dots.js";
import { Choice, rate, Share } from "./evaluation_shared.js";

/** @typedef {import("./evaluation.js").Model} Model */
/** @typedef {import("./evaluation.js").Part} Part */
/** @typedef {import("../router.js").Route} Route */
/** @typedef {import("./evaluation_shared.js").Cell} Cell */
/** @typedef {{id: string, domain: string, benchmark: string, family: string, level: string, prompt: any, altered: boolean, cells: Cell[], at: number}} Row */
/** @typedef {{rows: Row[], keys: string[], error: string, found: Set<string> | null, loading: boolean}} Matrix `found`: what the text filter leaves, where the server was asked */

const BY = ["benchmark", "domain", "family"];
const SETS = [
  ["gained", "gained: never before, once or more after"],
  ["lost", "lost: once or more before, never after"],
  ["kept", "solved by both"],
  ["never", "solved by neither"],
];

/**
 * @param {string} subject
 * @param {Route} route
 * @returns {Matrix}
 */
export function useMatrix(subject, route) {
  const { data, error, loading } = useData(subject, "matrix");
  const q = route.query.q ?? "";
  const search = useData(subject, q && !exported ? "search" : "", { q });
  const rows = useMemo(() => (data?.rows ?? []).map((/** @type {Row} */ row, /** @type {number} */ at) => ({ ...row, at })), [data]);
  const found = useMemo(() => (q && !exported && search.data ? new Set(search.data.ids) : null), [q, search.data]);
  const keys = useMemo(() => (data?.models ?? []).map((/** @type {any} */ m) => m.key), [data]);
  return { rows, keys, error: error || search.error, found: /** @type {Set<string> | null} */ (found), loading };
}

/**
 * Return the rows that match the filters in the address, sorted.
 * @param {Matrix} matrix
 * @param {Model[]} models
 * @param {Record<string, string>} query
 * @returns {Row[]}
 */
export function wanted(matrix, models, query) {
  const places = models.map((m) => matrix.keys.indexOf(m.key));
  const [first, last] = [places[0], places[places.length - 1]];
  const words = (query.q ?? "").toLowerCase();
  const kept = matrix.rows.filter(
    (row) =>
      BY.every((name) => !query[name] || row[/** @type {"domain"} */ (name)] === query[name]) &&
      (!query.dot || placeOf(row.cells[first], row.cells[last]) === query.dot) &&
      (!query.set || setOf(row.cells[first], row.cells[last]) === query.set) &&
      (!words || (matrix.found ? matrix.found.has(row.id) : here(row, words))),
  );
  const value = sorter(query.sort ?? "", places);
  if (value === null) return kept;
  return kept
    .map((row) => ({ row, value: value(row) }))
    .sort((a, b) => compared(a.value, b.value, Boolean(query.down)) || a.row.at - b.row.at)
    .map((one) => one.row);
}

/** @param {Row} row @param {string} words */
function here(row, words) {
  return row.id.toLowerCase().includes(words) || (row.prompt?.text ?? "").toLowerCase().includes(words);
}

/**
 * @param {string} key
 * @param {number[]} places
 * @returns {((row: Row) => string | number | null) | null}
 */
function sorter(key, places) {
  const at = places.find((place) => key === `model${place}`);
  if (at !== undefined) return (row) => rate(row.cells[at]);
  switch (key) {
    case "":
      return null;
    case "difference":
      return (row) => difference(row.cells[places[0]], row.cells[places[places.length - 1]]);
    case "difficulty":
      return (row) => mean(places.map((place) => rate(row.cells[place])));
    case "group":
      return (row) => `${row.domain} ${row.family} ${row.level}`;
    default:
      return (row) => row.id;
  }
}

/** @param {(number | null)[]} values */
function mean(values) {
  const known = /** @type {number[]} */ (values.filter((v) => v !== null));
  return known.length ? known.reduce((a, b) => a + b, 0) / known.length : null;
}

/** @param {Cell} a @param {Cell} b */
function difference(a, b) {
  const [p, q] = [rate(a), rate(b)];
  return p === null || q === null ? null : q - p;
}

/** @param {Cell} a @param {Cell} b */
function setOf(a, b) {
  if (!a || !b || !a[1] || !b[1]) return "";
  if (a[0] > 0) return b[0] > 0 ? "kept" : "lost";
  return b[0] > 0 ? "gained" : "never";
}

/** @param {Part & {matrix: Matrix}} props */
export function ProblemsTab({ route, models, matrix }) {
  const { query } = route;
  const rows = useMemo(() => wanted(matrix, models, query), [matrix.rows, matrix.found, models.map((m) => m.key).join(","), JSON.stringify(query)]);
  const places = models.map((m) => matrix.keys.indexOf(m.key));
  const several = BY.filter((name) => new Set(matrix.rows.map((r) => r[/** @type {"domain"} */ (name)])).size > 1);
  const by = query.by ?? (several.includes("benchmark") && !query.sort ? "benchmark" : "");
  const listed = useMemo(() => (by && by !== "none" ? grouped(rows, by) : rows), [rows, by]);
  if (matrix.error) return html`<p class="error" role="alert">${matrix.error}</p>`;
  return html`
    <${Filters} route=${route} rows=${matrix.rows} several=${several} by=${by} models=${models} />
    <p role="status">${rows.length.toLocaleString("en")} of ${matrix.rows.length.toLocaleString("en")} problems${query.q && exported ? " (of ids and of what this file has of prompts)" : ""}</p>
    <div class="tight"><${Table}
      label="problems by models"
      columns=${columns(models, places)}
      rows=${listed}
      id=${(/** @type {any} */ row) => row.group ?? row.id}
      sorted=${{ key: query.sort ?? "", down: Boolean(query.down) }}
      onSort=${(/** @type {string} */ key, /** @type {boolean} */ down) => route.go({ sort: key === "at" ? null : key, down: down ? 1 : null }, true)}
      onOpen=${(/** @type {any} */ row) => (row.group ? route.go({ [by]: row.name, by: "none" }) : route.go({ problem: row.id }))}
      empty=${matrix.rows.length ? "no problem is left: take a filter away" : matrix.loading ? "reading" : "no problem"}
    /></div>
    <p class="none">A cell: right answers of those judged, shaded by their share. Difference: share of the last model shown minus that of the baseline; difficulty: mean share of the models shown.</p>
  `;
}

/**
 * @param {Model[]} models
 * @param {number[]} places
 */
function columns(models, places) {
  /** @param {(row: any) => any} show */
  const own = (show) => (/** @type {any} */ row) => row.group === undefined && show(row);
  return [
    { key: "id", title: "problem", show: (/** @type {any} */ row) => (row.group === undefined ? html`<bdi>${row.id}</bdi>${row.altered ? html` <span class="warn" title="models were asked different things under this id">altered</span>` : ""}` : html`<strong>${row.name || "none"}</strong> <span class="unit">${row.rows.length}</span>`) },
    ...models.map((m, i) => ({
      key: `model${places[i]}`,
      title: m.label,
      number: true,
      show: (/** @type {any} */ row) => (row.group === undefined ? html`<${Share} cell=${row.cells[places[i]]} />` : html`<span class="unit">${solved(row.rows, places[i])} solved</span>`),
    })),
    ...(models.length > 1 ? [{ key: "difference", title: "difference", number: true, minor: true, show: own((row) => points(difference(row.cells[places[0]], row.cells[places[places.length - 1]]))) }] : []),
    { key: "difficulty", title: "difficulty", number: true, minor: true, show: own((row) => percent(mean(places.map((at) => rate(row.cells[at]))))) },
    { key: "group", title: "domain, family", minor: true, show: own((row) => [row.domain, row.family, row.level && `level ${row.level}`].filter(Boolean).join(" · ")) },
    { key: "at", title: "prompt", wide: true, minor: true, show: own((row) => html`<${Text} value=${row.prompt} inline />`) },
  ];
}

/** @param {Row[]} rows @param {number} place */
function solved(rows, place) {
  return rows.filter((row) => (row.cells[place]?.[0] ?? 0) > 0).length;
}

/** @param {number | null} value */
function percent(value) {
  return value === null ? "–" : `${(100 * value).toFixed(0)}%`;
}

/** @param {number | null} value */
function points(value) {
  if (value === null) return "–";
  return html`<span class=${Math.abs(value) < 0.005 ? "none" : value > 0 ? "good" : "bad"}>${signed(100 * value, 0)}</span>`;
}

/**
 * Return the rows with a head before each group, ordered by first occurrence.
 * @param {Row[]} rows
 * @param {string} by
 */
function grouped(rows, by) {
  /** @type {Map<string, Row[]>} */
  const groups = new Map();
  for (const row of rows) {
    const name = row[/** @type {"domain"} */ (by)];
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  return [...groups].flatMap(([name, own]) => [{ group: `group ${name}`, name, rows: own }, ...own]);
}

/** @param {{route: Route, rows: Row[], several: string[], by: string, models: Model[]}} props */
function Filters({ route, rows, several, by, models }) {
  const { query } = route;
  /** @param {string} name */
  const values = (name) => [...new Set(rows.map((r) => r[/** @type {"domain"} */ (name)]))].filter(Boolean).sort();
  const any = [...BY, "q", "set", "dot", "sort"].some((name) => query[name]);
  return html`<form class="filters" role="search" onSubmit=${(/** @type {Event} */ e) => e.preventDefault()}>
    <${Field} title="words of id or prompt" value=${query.q ?? ""} told=${(/** @type {string} */ q) => route.go({ q }, true)} first />
    ${several.map((name) => html`<${Choice} route=${route} name=${name} title=${name} values=${values(name).map((v) => [v, v])} />`)}
    ${models.length > 1 && html`<${Choice} route=${route} name="set" title="change, ${models[0].label} to ${models[models.length - 1].label}" values=${SETS} />`}
    ${several.length > 0 && html`<label>grouped by<select value=${by || "none"} onChange=${(/** @type {any} */ e) => route.go({ by: e.target.value }, true)}>
      ${["none", ...several].map((v) => html`<option value=${v}>${v === "none" ? "nothing" : v}</option>`)}
    </select></label>`}
    ${any && html`<button type="button" onClick=${() => route.go({ q: null, domain: null, benchmark: null, family: null, set: null, dot: null, sort: null, down: null })}>all problems</button>`}
  </form>`;
}
