// A response by token, coloured by log-prob, sampler gap or advantage, with the number of the token under the pointer.
import { html, shown, useMemo, useRef, useState } from "../lib.js";

/** @typedef {{why: string, count?: number, ends?: number[], text?: import("../data.js").Private | null, sampler: (number | null)[] | null, trainer: (number | null)[] | null, gap: (number | null)[] | null, advantage: number | null, given?: number[]}} Tokens `given`: indices of the environment's tokens */

const FIRST = 3000; // tokens drawn initially
/** The values that can colour tokens, with CSS classes and legends. Classes: n0 none, b1..b4 towards bad, g1..g4 towards good. */
export const COLOURS = /** @type {const} */ ({
  sampler: {
    title: "log-prob (sampler)",
    unit: "nats",
    class: (/** @type {number} */ v) => (v > -0.105 ? "n0" : v > -0.693 ? "b1" : v > -2.303 ? "b2" : v > -4.605 ? "b3" : "b4"),
    legend: [["n0", "above -0.1 (p > 0.9)"], ["b1", "-0.1 to -0.7"], ["b2", "-0.7 to -2.3"], ["b3", "-2.3 to -4.6"], ["b4", "below -4.6 (p < 0.01)"]],
  },
  trainer: {
    title: "log-prob (trainer)",
    unit: "nats",
    class: (/** @type {number} */ v) => COLOURS.sampler.class(v),
    legend: [["n0", "above -0.1 (p > 0.9)"], ["b1", "-0.1 to -0.7"], ["b2", "-0.7 to -2.3"], ["b3", "-2.3 to -4.6"], ["b4", "below -4.6 (p < 0.01)"]],
  },
  gap: {
    title: "sampler gap",
    unit: "nats, sampler minus trainer",
    class: (/** @type {number} */ v) => {
      const size = Math.abs(v);
      const level = size < 0.02 ? 0 : size < 0.1 ? 1 : size < 0.5 ? 2 : size < 2 ? 3 : 4;
      return level === 0 ? "n0" : `${v > 0 ? "b" : "g"}${level}`;
    },
    legend: [["g4", "trainer higher by 2 and more"], ["g3", "0.5"], ["g2", "0.1"], ["g1", "0.02"], ["n0", "the same"], ["b1", "sampler higher by 0.02"], ["b2", "0.1"], ["b3", "0.5"], ["b4", "2 and more"]],
  },
  advantage: {
    title: "advantage",
    unit: "one for all tokens of a response",
    class: (/** @type {number} */ v) => {
      const size = Math.abs(v);
      const level = size < 0.01 ? 0 : size < 0.3 ? 1 : size < 1 ? 2 : size < 2 ? 3 : 4;
      return level === 0 ? "n0" : `${v < 0 ? "b" : "g"}${level}`;
    },
    legend: [["b3", "pushed down"], ["n0", "none"], ["g3", "pushed up"]],
  },
});
/** @typedef {keyof typeof COLOURS} Colour */

/** @param {{tokens: Tokens, response: string, by: Colour}} props */
export function TokenText({ tokens, response, by }) {
  const [at, setAt] = useState(-1);
  const [all, setAll] = useState(false);
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  const text = tokens.text?.text ?? response;
  const pieces = useMemo(() => cut(text, tokens.ends ?? []), [text, tokens.ends]);
  const given = useMemo(() => new Set(tokens.given), [tokens.given]);
  const kind = COLOURS[by];
  /** @param {number} token */
  const valueOf = (token) => (by !== "advantage" ? (tokens[by]?.[token] ?? null) : given.has(token) ? null : tokens.advantage);
  const drawn = all ? pieces.length : Math.min(pieces.length, FIRST);

  /** @param {KeyboardEvent} event */
  function walk(event) {
    const by = { ArrowRight: 1, ArrowDown: 10, ArrowLeft: -1, ArrowUp: -10 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(drawn - 1, at + by));
    setAt(next);
    frame.current?.querySelector(`[data-token="${next}"]`)?.scrollIntoView({ block: "nearest" });
  }

  /** @param {Event} event */
  function point(event) {
    const token = /** @type {HTMLElement} */ (event.target).dataset?.token;
    if (token !== undefined) setAt(Number(token));
  }

  const named = at >= 0 ? `token ${at + 1} of ${pieces.length} ${JSON.stringify(pieces[at])}: ${given.has(at) ? "from the environment, not sampled" : `${kind.title} ${shown(valueOf(at), 4)} ${kind.unit}`}` : `${pieces.length} tokens; point at one, or walk with the arrow keys`;
  const others = at >= 0 && by !== "advantage" && !given.has(at) ? (["sampler", "trainer", "gap"].filter((k) => k !== by && tokens[/** @type {"gap"} */ (k)]).map((k) => ` · ${COLOURS[/** @type {Colour} */ (k)].title} ${shown(tokens[/** @type {"gap"} */ (k)]?.[at], 4)}`)) : [];
  return html`<p class="token-legend">${kind.legend.map(([name, words]) => html`<span><span class="swatch ${name}">${name[0] === "n" ? "·" : name[1]}</span> ${words}</span>`)}${given.size > 0 && html`<span class="given">from the environment</span>`}</p>
    <p class="token-reading" aria-live="polite"><bdi>${named}${others}</bdi></p>
    ${tokens.text && html`<p class="note">${given.size > 0 ? "the tokens of all turns" : "the tokens' own text, which is not quite the response's"}</p>`}
    <div class="text tokens" ref=${frame} tabindex="0" role="application" aria-label="response by tokens; arrow keys walk" onKeyDown=${walk} onPointerOver=${point} onClick=${point}>
      <bdi>${pieces.slice(0, drawn).map((piece, token) => {
        if (!piece) return "";
        const value = valueOf(token);
        const classes = [given.has(token) ? "given" : value === null ? "n0" : kind.class(value), token === at ? "here" : ""].join(" ");
        return html`<span data-token=${token} class=${classes}>${piece}</span>`;
      })}</bdi>
      ${drawn < pieces.length && html`<p class="more"><button onClick=${() => setAll(true)}>show all ${pieces.length.toLocaleString("en")} tokens</button></p>`}
    </div>`;
}

/**
 * @param {string} text
 * @param {number[]} ends
 */
function cut(text, ends) {
  let from = 0;
  return ends.map((end) => {
    const piece = text.slice(from, end);
    from = end;
    return piece;
  });
}
