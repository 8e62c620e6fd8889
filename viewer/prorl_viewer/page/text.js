// Shows the texts of models and data sets, always as text and never as markup.
import { html, useState } from "./lib.js";

/** @typedef {import("./data.js").Private} Private */

const FIRST = 20000; // characters shown at first
const SHORT = 400; // a longer reference (in characters) is shown only on request

/**
 * A name from a file, which cannot change the direction of the text around it.
 * @param {{value: string | null | undefined}} props
 */
export function Name({ value }) {
  return value === null || value === undefined ? html`–` : html`<bdi>${value}</bdi>`;
}

/**
 * A text in its lines; a long one is cut, with a button that shows the rest.
 * @param {{value: Private | null | undefined, inline?: boolean, label?: string}} props
 */
export function Text({ value, inline = false, label }) {
  const [whole, setWhole] = useState(false);
  if (value === null || value === undefined) return html`<span class="none">–</span>`;
  if (value.text === undefined) return html`<span class="none">left out (${(value.length ?? 0).toLocaleString("en")} characters)</span>`;
  const length = value.length ?? value.text.length;
  const text = whole ? value.text : value.text.slice(0, inline ? 200 : FIRST);
  if (inline) return html`<bdi class="text inline">${text}${length > text.length ? "…" : ""}</bdi>`;
  return html`<div class="text" dir="auto" tabindex="0" role="region" aria-label=${label ?? "text"}>
    <bdi>${text}</bdi>
    ${length > text.length &&
    html`<p class="more">
      ${value.text.length > text.length
        ? html`<button onClick=${() => setWhole(true)}>show ${value.text.length.toLocaleString("en")} characters</button>`
        : ""}
      ${" "}${text.length.toLocaleString("en")} of ${length.toLocaleString("en")} characters
    </p>`}
  </div>`;
}

/**
 * A task's reference: its answer if it has one, and all of it on request.
 * @param {{value: Private | null | undefined}} props
 */
export function Reference({ value }) {
  const text = value?.text ?? "";
  const answer = answerOf(text);
  return html`${answer && html`<p><span class="soft">answer</span> <bdi class="text inline">${answer}</bdi></p>`}
    <details open=${!answer && text.length < SHORT}><summary>reference</summary><${Text} value=${value} label="reference" /></details>`;
}

/**
 * Return the answer that a reference names, or "".
 * @param {string} reference JSON
 */
export function answerOf(reference) {
  try {
    const { answer, entry } = JSON.parse(reference);
    const found = answer ?? entry?.answer;
    return ["string", "number"].includes(typeof found) ? String(found) : "";
  } catch {
    return "";
  }
}
