// Counts of a dataset's rows by domain and split or by any label, and histograms.
import { Bars, BarKeys } from "../bars.js";
import { useData } from "../data.js";
import { html, shown } from "../lib.js";
import { Table } from "../table.js";
import { titled } from "./dataset_labels.js";

/** @typedef {import("../router.js").Route} Route */

const BY = ["family", "source", "domain", "level", "licence", "verifier", "gold_check", "split", "entry"];
const SAID = ["domain", "level", "source", "licence", "gold_check"]; // labels whose values are listed for each group
const SPLITS = ["train", "validation", "test"];

/** @param {{subject: string, route: Route, summary: any}} props */
export function Counts({ subject, route, summary }) {
  const by = route.query.by ?? "family";
  const { data, error } = useData(subject, "groups", { by });
  const { data: drawn } = useData(subject, "histograms");
  return html`${summary && html`<${Domains} summary=${summary} route=${route} />`}
    ${drawn &&
    html`<h2>How the rows are spread</h2>
      <${BarKeys} names=${drawn.domains} />
      <div class="charts">
        <${Bars} title="Length of the question, characters" ...${drawn.characters} />
        ${drawn.levels && html`<${Bars} title="Level" ...${drawn.levels} />`}
        ${drawn.rates && html`<${Bars} title="Pass rate" ...${drawn.rates} />`}
      </div>`}
    <h2>Rows by ${titled(by)}</h2>
    <div class="filters">
      <label>
        count by
        <select onChange=${(/** @type {any} */ e) => route.go({ by: e.target.value })}>
          ${BY.map((key) => html`<option value=${key} selected=${key === by}>${titled(key)}</option>`)}
        </select>
      </label>
    </div>
    ${error && html`<p class="error" role="alert">${error}</p>`}
    ${data ? html`<${Groups} by=${data.by} groups=${data.groups} route=${route} />` : !error && html`<p class="none">reading the rows …</p>`}`;
}

/** @param {{summary: any, route: Route}} props */
function Domains({ summary, route }) {
  const splits = SPLITS.filter((s) => s in summary.splits);
  const kinds = Object.entries(summary.gold_types).map(([kind, n]) => `${kind} ${shown(/** @type {number} */ (n))}`);
  const checks = Object.entries(summary.gold_checks).map(([kind, n]) => `${kind} ${shown(/** @type {number} */ (n))}`);
  const licences = Object.entries(summary.licences).map(([name, n]) => `${name} ${shown(/** @type {number} */ (n))}`);
  const short = Object.entries(summary.short).map(([entry, words]) => `${entry}: ${words}`);
  return html`<div class="ds-two">
    <${Table}
      label="rows by domain and split"
      columns=${[{ key: "domain", title: "domain" }, ...splits.map((s) => ({ key: s, title: s, number: true, show: (/** @type {any} */ row) => shown(row[s]) }))]}
      rows=${summary.counts}
      onOpen=${(/** @type {any} */ row) => route.go({ tab: null, domain: row.domain })}
    />
    <dl>
      ${fact("gold checks", checks)} ${fact("kinds of answers", kinds)} ${fact("licences", licences)} ${fact("gold check ran in", summary.isolation)}
      ${fact("short of their target", short)} ${fact("sources not loaded", summary.failed)} ${fact("pass rates", summary.pass_rates === "none" ? ["none: make some with prorl data rate"] : [summary.pass_rates])}
      ${fact("seed", [summary.seed])}
    </dl>
  </div>`;
}

/**
 * @param {string} title
 * @param {string[]} values
 */
function fact(title, values) {
  if (!values.length) return "";
  const more = values.length > 12 ? ` and ${values.length - 12} more` : "";
  return html`<dt>${title}</dt><dd>${values.slice(0, 12).join(", ")}${more}</dd>`;
}

/** @param {{by: string, groups: any[], route: Route}} props */
function Groups({ by, groups, route }) {
  const splits = SPLITS.filter((s) => groups.some((g) => g[s] > 0));
  const rated = groups.some((g) => g.rated > 0);
  /** @type {import("../table.js").Column[]} */
  const columns = [
    { key: "name", title: titled(by) },
    ...splits.map((s) => ({ key: s, title: s, number: true, show: (/** @type {any} */ g) => shown(g[s]) })),
    ...(rated
      ? [
          { key: "rate", title: "mean pass rate", number: true, show: (/** @type {any} */ g) => shown(g.rate) },
          { key: "rated", title: "rated", number: true, show: (/** @type {any} */ g) => shown(g.rated) },
        ]
      : []),
    ...SAID.filter((key) => key !== by && groups.some((g) => g[key])).map((key) => ({ key, title: titled(key), minor: true })),
  ];
  return html`<${Table} label=${`rows by ${by}`} columns=${columns} rows=${groups} onOpen=${(/** @type {any} */ g) => route.go({ tab: null, [by]: g.name })} />`;
}
