// The view of a dataset: its rows, their counts, and the rows that the build dropped.
import { useData } from "../data.js";
import { html, shown } from "../lib.js";
import { Name } from "../text.js";
import { Counts } from "./dataset_counts.js";
import { Dropped } from "./dataset_dropped.js";
import { Rows } from "./dataset_rows.js";

/** @typedef {import("../router.js").Route} Route */
/** @typedef {{name: string, title: string, show: (props: {subject: string, route: Route, summary: any}) => unknown}} Tab */

/** @type {Tab[]} */
const TABS = [
  { name: "", title: "Rows", show: Rows },
  { name: "counts", title: "Counts", show: Counts },
  { name: "dropped", title: "What was dropped", show: Dropped },
];

/** @param {{subject: string, route: Route}} props */
export function DatasetView({ subject, route }) {
  const { data: summary, error } = useData(subject, "summary");
  const tab = TABS.find((t) => t.name === (route.query.tab ?? "")) ?? TABS[0];
  const splits = Object.entries(summary?.splits ?? {});
  return html`<h1><${Name} value=${subject} /></h1>
    ${error && html`<p class="error" role="alert">${error}</p>`}
    ${summary &&
    html`<p class="ds-about">
      ${splits.map(([split, rows]) => `${shown(/** @type {number} */ (rows))} ${split}`).join(" · ")} rows
      ${summary.recipe && html` · recipe ${summary.recipe}`}${summary.description && html`<br /><span class="none">${summary.description}</span>`}
    </p>`}
    <nav class="ds-tabs" aria-label="of the dataset">
      ${TABS.map((t) => html`<a class="tab" href=${route.href({ tab: t.name, row: null })} aria-current=${t === tab ? "page" : undefined}>${t.title}</a>`)}
    </nav>
    <${tab.show} key=${tab.name} subject=${subject} route=${route} summary=${summary} />`;
}
