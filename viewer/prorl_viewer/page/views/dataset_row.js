// One row in full: the question, the gold answer and its check.
import { act, exported, useData } from "../data.js";
import { Findings } from "../findings.js";
import { html, shown, useState } from "../lib.js";
import { Name, Text } from "../text.js";
import { titled } from "./dataset_labels.js";

const LABELS = ["domain", "split", "family", "level", "source", "licence", "verifier", "entry"];

/** @typedef {import("../router.js").Route} Route */

/** @param {{subject: string, id: string, route: Route, ids: string[]}} props */
export function Row({ subject, id, route, ids }) {
  const { data: row, error } = useData(subject, "row", { id });
  const at = ids.indexOf(id);
  return html`<section class="ds-row" aria-label="one row">
    <div class="ds-head">
      <h2><${Name} value=${id} /></h2>
      <span class="ds-steps">
        <button disabled=${at <= 0} onClick=${() => route.go({ row: ids[at - 1] }, true)} title="k">previous</button>
        <button disabled=${at < 0 || at + 1 >= ids.length} onClick=${() => route.go({ row: ids[at + 1] }, true)} title="j">next</button>
        <button onClick=${() => route.go({ row: null })} title="Esc">close</button>
      </span>
    </div>
    ${error && html`<p class="error" role="alert">${error}</p>`}
    ${row &&
    html`<${Facts} row=${row} route=${route} />
      <${Question} row=${row} />
      <${Gold} subject=${subject} row=${row} />
      <details open><summary>Reference that the verifier checks against</summary><${Text} value=${row.reference} label="reference" /></details>
      <details><summary>Metadata</summary><${Text} value=${row.metadata} label="metadata" /></details>
      <${Like} row=${row} />`}
  </section>`;
}

/** @param {{row: any, route: Route}} props */
function Facts({ row, route }) {
  const { rating } = row;
  return html`<dl>
    ${LABELS.map((key) => row[key] !== null && html`<dt>${titled(key)}</dt><dd><a href=${route.href({ [key]: row[key], offset: null })} title="rows of the same"><${Name} value=${row[key]} /></a></dd>`)}
    <dt>gold check</dt>
    <dd>${row.gold_check}${row.verified_by ? ` (${row.verified_by})` : ""}</dd>
    <dt>pass rate</dt>
    <dd>
      ${rating
        ? html`${shown(rating.rate)} of ${shown(rating.n)} samples${rating.low !== null ? ` (${shown(rating.low)} to ${shown(rating.high)})` : ""}
            ${!rating.asks_the_same && html`<span class="warn"> rated when the question was another</span>`}`
        : html`<span class="none">not rated</span>`}
    </dd>
    <dt>length</dt>
    <dd>${shown(row.characters)} characters</dd>
  </dl>`;
}

/** @param {{row: any}} props */
function Question({ row }) {
  return html`<h3>Question, as ${row.prompt.length === 1 ? "one message" : `${row.prompt.length} messages`}</h3>
    ${row.prompt.map((/** @type {any} */ m) => html`<p class="ds-role">${m.role}</p><${Text} value=${m.content} label=${`message of ${m.role}`} />`)}`;
}

/** @param {{subject: string, row: any}} props */
function Gold({ subject, row }) {
  const [state, set] = useState(/** @type {{verdict?: any, error?: string, busy?: boolean}} */ ({}));
  function check() {
    set({ busy: true });
    act(subject, "check", { id: row.id }).then(
      (verdict) => set({ verdict }),
      (error) => set({ error: error.message }),
    );
  }
  return html`<h3>Gold</h3>
    ${row.shown && html`<p><span class="none">answer </span><${Text} value=${row.shown} inline /></p>`}
    ${row.gold
      ? html`<p class="ds-role">response that should get full marks, of ${row.gold_is_of}</p><${Text} value=${row.gold} label="gold response" />`
      : html`<p class="none">no gold response${row.verifier_is_here ? "" : `: the verifier ${row.verifier} is not installed here`}</p>`}
    ${!exported && row.gold && html`<button onClick=${check} disabled=${state.busy ?? false}>${state.busy ? "checking …" : "check the gold again now"}</button>`}
    <div aria-live="polite">
      ${state.error && html`<p class="error">${state.error}</p>`}
      ${state.verdict && html`<${Verdict} verdict=${state.verdict} />`}
    </div>`;
}

/** @param {{verdict: any}} props */
function Verdict({ verdict }) {
  const words = verdict.accepted === null ? "no verdict" : verdict.accepted ? "accepted" : "refused";
  return html`<dl>
    <dt>verdict</dt>
    <dd class=${verdict.accepted ? "good" : "bad"}>${words}: reward ${shown(verdict.reward)}, ${verdict.status}, ${shown(verdict.seconds)} s</dd>
    <dt>reason</dt>
    <dd><${Text} value=${verdict.reason} /></dd>
    <dt>extracted</dt>
    <dd><${Text} value=${verdict.extracted} /></dd>
    ${verdict.isolation && html`<dt>ran in</dt><dd>${verdict.isolation}</dd>`}
    </dl>
    <${Findings} findings=${verdict.findings} />`;
}

/** @param {{row: any}} props */
function Like({ row }) {
  if (!row.repeated_by.length && !row.like_benchmarks.length) return null;
  return html`<h3>Like this row</h3>
    ${row.repeated_by.map(
      (/** @type {any} */ d) => html`<div class="ds-example"><p>dropped as ${d.reason}: <b>${d.row}</b></p><${Text} value=${d.text} label="dropped question" /></div>`,
    )}
    ${row.like_benchmarks.map(
      (/** @type {any} */ m) => html`<div class="ds-example">
        <p>kept, though like ${m.benchmark} ${m.item} (${m.rule}, ${m.numbers} numbers, score ${shown(m.score)})</p>
        <${Text} value=${m.shared} label="words in common" />
      </div>`,
    )}`;
}
