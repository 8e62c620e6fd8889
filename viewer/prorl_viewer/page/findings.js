// The findings that explain a verifier's reward, as a tree.
import { html, shown } from "./lib.js";
import { Text } from "./text.js";

/** @typedef {import("./data.js").Private} Private */
/** @typedef {{title: string, outcome: "passed" | "failed" | "neutral", fields: [string, Private][], span: [number, number] | null, parts: Finding[]}} Finding */

const SIGNS = { passed: "✓", failed: "✗", neutral: "·" };
const COLOURS = { passed: "good", failed: "bad", neutral: "none" };

/** @param {{findings: Finding[]}} props */
export function Findings({ findings }) {
  if (!findings.length) return "";
  return html`<ul class="findings">
    ${findings.map((one) => html`<li>
      <span class=${COLOURS[one.outcome]}>${SIGNS[one.outcome]} <span class="visually-hidden">${one.outcome}:</span></span> <bdi>${one.title}</bdi>
      ${one.span && html` <span class="unit">characters ${shown(one.span[0] + 1)} to ${shown(one.span[1])} of the response</span>`}
      ${one.fields.length > 0 && html`<dl>${one.fields.map(([label, text]) => html`<dt><bdi>${label}</bdi></dt><dd><${Short} value=${text} /></dd>`)}</dl>`}
      <${Findings} findings=${one.parts} />
    </li>`)}
  </ul>`;
}

/**
 * Show a short text inline and a longer one in a separate box.
 * @param {{value: Private}} props
 */
function Short({ value }) {
  const short = value.text === undefined || (value.text.length < 120 && !value.text.includes("\n"));
  return html`<${Text} value=${value} inline=${short} />`;
}
