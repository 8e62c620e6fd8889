// Shows the texts of models and data sets, always as text and never as markup.
import { html, useState } from "./lib.js";

/** @typedef {import("./data.js").Private} Private */

const FIRST = 20000; // characters shown at first
// Invisible characters and those that change the direction of text, except tab and newline.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Surrogate}/gu;

/**
 * Return the text with every invisible character written out, like ⟨U+202E⟩.
 * @param {string} text
 */
export function seen(text) {
  /** @param {string} c */
  const written = (c) => `⟨U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
  return text.replace(/\r\n/g, "\n").replace(UNSEEN, written);
}

/**
 * A name from a file, which cannot change the direction of the text around it.
 * @param {{value: string | null | undefined}} props
 */
export function Name({ value }) {
  return value === null || value === undefined ? html`–` : html`<bdi>${seen(value)}</bdi>`;
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
  if (inline) return html`<bdi class="text inline">${seen(text)}${length > text.length ? "…" : ""}</bdi>`;
  return html`<div class="text" dir="auto" tabindex="0" role="region" aria-label=${label ?? "text"}>
    <bdi>${seen(text)}</bdi>
    ${length > text.length &&
    html`<p class="more">
      ${value.text.length > text.length
        ? html`<button onClick=${() => setWhole(true)}>show ${value.text.length.toLocaleString("en")} characters</button>`
        : ""}
      ${" "}${text.length.toLocaleString("en")} of ${length.toLocaleString("en")} characters
    </p>`}
  </div>`;
}
