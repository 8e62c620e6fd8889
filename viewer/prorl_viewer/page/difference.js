// Compares two texts by word, and shows the words that only one of them has.
import { html } from "./lib.js";

const MOST = 1500; // maximum number of words compared, without the common beginning and end

/**
 * @param {{from: string, to: string, label: string}} props the words of `to` that `from` lacks, and the reverse
 */
export function Difference({ from, to, label }) {
  const { parts, cut } = compare(words(from), words(to));
  return html`<div class="text difference" dir="auto" tabindex="0" role="region" aria-label=${label}>
    <bdi>${parts.map(([kind, text]) => (kind === "same" ? text : kind === "gone" ? html`<del>${text}</del>` : html`<ins>${text}</ins>`))}</bdi>
    ${cut && html`<p class="more">the first ${MOST.toLocaleString("en")} words that differ are compared</p>`}
  </div>`;
}

/** @param {string} text */
function words(text) {
  return text.match(/\s+|[\w]+|[^\w\s]/gu) ?? [];
}

/**
 * @param {string[]} a
 * @param {string[]} b
 */
function compare(a, b) {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const cut = a.length - start - end > MOST || b.length - start - end > MOST;
  const before = a.slice(start, Math.min(a.length - end, start + MOST));
  const after = b.slice(start, Math.min(b.length - end, start + MOST));
  const wide = after.length + 1;
  const common = new Uint16Array((before.length + 1) * wide); // length of the longest common subsequence of the remaining words
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      common[i * wide + j] = before[i] === after[j] ? common[(i + 1) * wide + j + 1] + 1 : Math.max(common[(i + 1) * wide + j], common[i * wide + j + 1]);
    }
  }
  /** @type {["same" | "gone" | "new", string][]} */
  const parts = [];
  /** @param {"same" | "gone" | "new"} kind @param {string} text */
  const add = (kind, text) => {
    const last = parts[parts.length - 1];
    if (last?.[0] === kind) last[1] += text;
    else if (text) parts.push([kind, text]);
  };
  add("same", a.slice(0, start).join(""));
  for (let i = 0, j = 0; i < before.length || j < after.length; ) {
    if (i < before.length && j < after.length && before[i] === after[j]) add("same", before[i++]), j++;
    else if (j >= after.length || (i < before.length && common[(i + 1) * wide + j] >= common[i * wide + j + 1])) add("gone", before[i++]);
    else add("new", after[j++]);
  }
  if (!cut) add("same", a.slice(a.length - end).join(""));
  return { parts, cut };
}
