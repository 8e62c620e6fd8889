// How the results were obtained, and novelty where it was measured.
import { useData } from "../data.js";
import { html, shown } from "../lib.js";
import { Change, Waiting } from "./evaluation_shared.js";

/** @typedef {import("./evaluation.js").Part} Part */

/** @param {Part} props */
export function HowTab({ subject, route }) {
  const { data, error } = useData(subject, "settings");
  const claims = useData(subject, "claims", { models: route.query.models });
  if (error) return html`<p class="error" role="alert">${error}</p>`;
  if (data === null) return html`<p class="none" role="status">reading</p>`;
  if (!data.facts.length) return html`<p class="none">no result yet</p>`;
  return html`
    <h2>How each result was obtained</h2>
    <${Plain} label="settings" head=${["", ...data.labels]} rows=${data.facts.map((/** @type {any} */ f) => [f.name, ...f.values])} />
    <h2>Truncation, extraction and infrastructure</h2>
    <${Plain} label="rates" head=${data.rates.head} rows=${data.rates.rows} />
    <p class="none">${data.rates.title}.</p>
    ${claims.data?.method && html`<h2>How these numbers are made</h2>${claims.data.method.map((/** @type {string} */ l) => html`<p>${l}</p>`)}`}
  `;
}

/** @param {{label: string, head: string[], rows: string[][]}} props */
function Plain({ label, head, rows }) {
  return html`<div class="table" tabindex="0" role="region" aria-label=${label}><table>
    <thead><tr>${head.map((h) => html`<th>${h}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${row.map((cell, i) => (i ? html`<td>${cell}</td>` : html`<th scope="row">${cell}</th>`))}</tr>`)}</tbody>
  </table></div>`;
}

/** @param {Part} props */
export function NoveltyTab({ subject }) {
  const state = useData(subject, "novelty");
  const data = state.data;
  if (!data || data.state === "computing") return html`<${Waiting} state=${state} what="novelty" />`;
  return html`${data.files.map(
    (/** @type {any} */ file) => html`<h2>${file.name}</h2>
      <div class="table" tabindex="0" role="region" aria-label="novelty"><table>
        <thead><tr><th>model</th><th>group</th><th class="number">problems</th><th class="number">responses</th><th class="number">too short</th><th class="number">words</th><th class="number">creativity index, 0 to ${file.highest}</th></tr></thead>
        <tbody>${file.groups.map(
          (/** @type {any} */ g) => html`<tr><td>${g.label}</td><td>${g.group}</td><td class="number">${shown(g.problems)}</td><td class="number">${shown(g.responses)}</td><td class="number">${shown(g.short)}</td><td class="number">${shown(g.words)}</td>
            <td class="number">${g.creativity.value?.toFixed(2) ?? "–"} <span class="unit">[${g.creativity.low?.toFixed(2) ?? "–"}, ${g.creativity.high?.toFixed(2) ?? "–"}]</span></td></tr>`,
        )}</tbody>
      </table></div>
      <ul>${file.changes.map((/** @type {any} */ c) => html`<li>${c.b} minus ${c.a}, ${c.group}: <${Change} of=${c.interval} digits=${2} /> over ${shown(c.interval.count)} problems</li>`)}</ul>`,
  )}
  <p class="none">The share of an answer's words that lie in no n-gram of the corpus, summed over the lengths of n-grams; intervals over problems, not corrected for their number.</p>`;
}
