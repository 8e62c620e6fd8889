// How the results were obtained.
import { useData } from "../data.js";
import { html } from "../lib.js";

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
    ${claims.data?.commands && html`<h2>To make it again</h2><pre class="text">${claims.data.commands.join("\n")}</pre>`}
    ${claims.data?.method && html`<h2>How these numbers are made</h2>${claims.data.method.map((/** @type {string} */ l) => html`<p>${l}</p>`)}`}
  `;
}

/** @param {{label: string, head: string[], rows: string[][]}} props */
export function Plain({ label, head, rows }) {
  return html`<div class="table plain" tabindex="0" role="region" aria-label=${label}><table>
    <thead><tr>${head.map((h) => html`<th>${h}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${row.map((cell, i) => (i ? html`<td>${cell}</td>` : html`<th scope="row">${cell}</th>`))}</tr>`)}</tbody>
  </table></div>`;
}
