// The rows that a build dropped, by stage and reason, with examples, and the benchmarks compared.
import { exported, useData } from "../data.js";
import { html, shown, useState } from "../lib.js";
import { Table } from "../table.js";
import { Text } from "../text.js";

/** @typedef {import("../router.js").Route} Route */

/** @param {{subject: string, route: Route}} props */
export function Dropped({ subject, route }) {
  const { reason, of } = route.query;
  const { data, error } = useData(subject, "drops", exported ? {} : { reason, domain: of });
  if (error) return html`<p class="error" role="alert">${error}</p>`;
  if (!data) return html`<p class="none">reading …</p>`;
  const examples = data.examples.filter((/** @type {any} */ e) => (!reason || e.reason === reason) && (!of || e.domain === of));
  return html`<${Stages} data=${data} route=${route} />
    <h2>Reasons</h2>
    <${Table}
      label="reasons"
      columns=${[
        { key: "reason", title: "reason" },
        { key: "stage", title: "stage", show: (/** @type {any} */ r) => r.stage ?? "–" },
        { key: "rows", title: "rows", number: true, show: (/** @type {any} */ r) => shown(r.rows) },
      ]}
      rows=${data.reasons}
      id=${(/** @type {any} */ r) => r.reason}
      chosen=${reason}
      onOpen=${(/** @type {any} */ r) => route.go({ reason: r.reason === reason ? null : r.reason })}
      empty="nothing was dropped"
    />
    <h2>Examples${reason ? html`: ${reason}` : ""}${of ? html` in ${of}` : ""}</h2>
    ${(reason || of) && html`<p><button onClick=${() => route.go({ reason: null, of: null })}>all reasons</button></p>`}
    ${data.examples_kept === 0 && data.reasons.length > 0 && html`<p class="none">this folder has no examples: it was built before they were kept, or made of other datasets</p>`}
    ${examples.map((/** @type {any} */ e) => html`<${Example} key=${`${e.stage} ${e.row}`} example=${e} route=${route} />`)}
    ${data.examples_total > data.examples.length && html`<p class="none">the first ${shown(data.examples.length)} of ${shown(data.examples_total)}: choose a reason or a domain</p>`}
    ${data.bad_rows > 0 && html`<p>${shown(data.bad_rows)} bad rows stand in quarantine.jsonl</p>`}
    <${Benchmarks} data=${data} /> <${Entries} subject=${subject} route=${route} />`;
}

/** @param {{data: any, route: Route}} props */
function Stages({ data, route }) {
  const used = data.stages.filter((/** @type {any} */ s) => data.by_domain.some((/** @type {any} */ row) => row[s.stage] > 0));
  return html`<h2>From candidates to rows</h2>
    <${Table}
      label="stages by domain"
      columns=${[
        { key: "domain", title: "domain" },
        ...used.map((/** @type {any} */ s) => ({ key: s.stage, title: s.title, number: true, show: (/** @type {any} */ row) => shown(row[s.stage] ?? 0) })),
      ]}
      rows=${data.by_domain}
      id=${(/** @type {any} */ row) => row.domain}
      chosen=${route.query.of}
      onOpen=${(/** @type {any} */ row) => route.go({ of: row.domain === route.query.of ? null : row.domain })}
    />`;
}

/** @param {{example: any, route: Route}} props */
function Example({ example, route }) {
  return html`<article class="ds-example">
    <p>
      <b>${example.row}</b> <span class="none">${example.stage === example.reason ? "" : `${example.stage}: `}${example.reason}</span>
      ${example.like && html`${" "}repeats <a href=${route.href({ tab: null, row: example.like, reason: null, of: null })}>${example.like}</a>`}
    </p>
    ${example.detail && html`<${Text} value=${example.detail} label="why" />`} ${example.text && html`<${Text} value=${example.text} label="question" />`}
    ${example.gold && html`<p class="ds-role">gold response that was refused</p><${Text} value=${example.gold} label="gold response" />`}
  </article>`;
}

/** @param {{data: any}} props */
function Benchmarks({ data }) {
  if (!data.checked.length && !data.not_checked.length) return html``;
  return html`<h2>Benchmarks that rows were compared with</h2>
    <p>
      ${data.checked.length ? data.checked.map((/** @type {any} */ b) => `${b.benchmark} (${shown(b.items)} items)`).join(", ") : "none"}
    </p>
    ${data.not_checked.length > 0 &&
    html`<details><summary>${data.not_checked.length} benchmarks could not be loaded, so rows were not compared with them</summary>
      <dl>${data.not_checked.map((/** @type {any} */ b) => html`<dt>${b.benchmark}</dt><dd>${b.why}</dd>`)}</dl>
    </details>`}
    ${data.pairs.map(
      (/** @type {any} */ p) => html`<details>
        <summary>${shown(p.rows)} rows ${p.dropped ? "dropped" : "kept"}: like ${p.benchmark}, by the rule ${p.rule}</summary>
        ${p.examples.map(
          (/** @type {any} */ e) => html`<article class="ds-example"><p><b>${e.row}</b> like ${e.item}</p><${Text} value=${e.text} label="question" /></article>`,
        )}
      </details>`,
    )}`;
}

/** @param {{subject: string, route: Route}} props */
function Entries({ subject, route }) {
  const [open, setOpen] = useState(false);
  const { data, error } = useData(subject, open ? "entries" : "");
  return html`<h2>By recipe entry</h2>
    ${!open && html`<button onClick=${() => setOpen(true)}>show every entry</button>`} ${error && open && html`<p class="error">${error}</p>`}
    ${open && data && html`<${EntryTable} entries=${data} route=${route} />`}`;
}

/** @param {{entries: any[], route: Route}} props */
function EntryTable({ entries, route }) {
  const numbers = ["candidates", "made", "posed", "gold", "decontamination", "duplicate", "near-duplicate", "difficulty", "surplus", "kept"];
  const used = numbers.filter((key) => entries.some((e) => e[key] > 0));
  const short = entries.some((e) => e.short);
  return html`<${Table}
    label="entries of the recipe"
    columns=${[
      { key: "entry", title: "entry" },
      ...used.map((key) => ({ key, title: key, number: true, show: (/** @type {any} */ e) => shown(e[key] ?? null) })),
      ...(short ? [{ key: "short", title: "short of target" }] : []),
    ]}
    rows=${entries}
    onOpen=${(/** @type {any} */ e) => route.go({ tab: null, entry: e.entry })}
  />`;
}
