// Renders a model's Markdown, LaTeX and code as nodes, never as markup, or shows the raw text.
import { html, seen, useEffect, useRef, useState } from "./lib.js";
import { Text } from "./text.js";

/** @typedef {import("./lib.js").Child} Child */
/** @typedef {import("./data.js").Private} Private */

const FIRST = 20000; // characters rendered at first
const DEEPEST = 6; // maximum depth of nested emphasis
const INLINE = /(`{1,3})([^]{1,1500}?)\1|\\\(([^]{1,1500}?)\\\)|\\\[([^]{1,1500}?)\\\]|\$\$([^$]+?)\$\$|\$(?!\s)([^$\n]{1,500}?)(?<!\s)\$(?!\d)|\*\*([^*\n]+?)\*\*|(?<![\w*])\*([^*\s][^*\n]*?)\*(?![\w*])|\\boxed\{(?!\})/u;
const CODE = /(#.*|\/\/.*|\/\*[^]{0,2000}?\*\/)|("""[^]{0,2000}?"""|'''[^]{0,2000}?'''|"(?:\\.|[^"\\\n]){0,500}"|'(?:\\.|[^'\\\n]){0,500}')|\b(\d[\w.]*)\b|\b(and|as|assert|async|await|bool|break|case|char|class|const|continue|def|del|double|elif|else|except|False|false|finally|float|for|from|function|if|import|in|include|int|is|lambda|let|long|None|not|null|or|pass|print|raise|return|self|static|string|struct|switch|True|true|try|using|var|void|while|with|yield)\b/gu;
const KINDS = ["", "comment", "string", "digits", "word"];

/**
 * @param {{value: Private | null | undefined, label: string, raw: boolean}} props
 */
export function Response({ value, label, raw }) {
  const [whole, setWhole] = useState(false);
  if (raw || value?.text === undefined) return html`<${Text} value=${value} label=${label} />`;
  const length = value.length ?? value.text.length;
  const text = whole ? value.text : value.text.slice(0, FIRST);
  return html`<div class="text prose" dir="auto" tabindex="0" role="region" aria-label=${label}>
    <bdi>${blocks(seen(text))}</bdi>
    ${length > text.length && html`<p class="more">${value.text.length > text.length && html`<button onClick=${() => setWhole(true)}>show ${value.text.length.toLocaleString("en")} characters</button>`} ${text.length.toLocaleString("en")} of ${length.toLocaleString("en")} characters</p>`}
  </div>`;
}

/** Return whether texts are shown raw, and the button that switches it for the whole page. */
export function useRaw() {
  const [raw, set] = useState(stored);
  const toggle = () => {
    set(!raw);
    try {
      localStorage.setItem("prorl-raw", raw ? "" : "raw");
    } catch {
      // a file or a private window has no storage
    }
  };
  return { raw, button: html`<button class="quiet" aria-pressed=${raw} onClick=${toggle}>raw</button>` };
}

function stored() {
  try {
    return localStorage.getItem("prorl-raw") === "raw";
  } catch {
    return false;
  }
}

/**
 * @param {string} text
 * @returns {Child[]}
 */
function blocks(text) {
  const lines = text.split("\n");
  /** @type {Child[]} */
  const made = [];
  /** @type {string[]} */
  let words = [];
  const flush = () => {
    if (words.some((w) => w.trim())) made.push(html`<p>${inline(words.join("\n"))}</p>`);
    words = [];
  };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at];
    const fence = /^\s*(```+|~~~+)\s*([\w+#-]*)\s*$/.exec(line);
    const display = /^\s*(\$\$|\\\[)/.exec(line);
    const heading = /^\s{0,3}(#{1,6})\s+(.*)$/.exec(line);
    if (fence) {
      flush();
      const from = at + 1;
      do at++;
      while (at < lines.length && !lines[at].trimStart().startsWith(fence[1]));
      made.push(html`<pre class="code">${fence[2] && html`<span class="language">${fence[2]}</span>`}<code>${highlighted(lines.slice(from, at).join("\n"))}</code></pre>`);
    } else if (display) {
      const close = display[1] === "$$" ? "$$" : "\\]";
      let end = at;
      let formula = line.trim().slice(2);
      while (!formula.includes(close) && end + 1 < lines.length && end - at < 60) formula += `\n${lines[++end]}`;
      const cut = formula.indexOf(close);
      if (cut < 0 || formula.slice(cut + 2).trim().length > 2) {
        words.push(line);
        continue;
      }
      flush();
      at = end;
      made.push(html`<${Tex} source=${formula.slice(0, cut)} display=${true} after=${formula.slice(cut + 2).trim()} />`);
    } else if (heading) {
      flush();
      made.push(html`<p class="heading">${inline(heading[2])}</p>`);
    } else if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) {
      flush();
      made.push(html`<hr />`);
    } else if (/^\s*\|.*\|\s*$/.test(line) && /^\s*\|?[\s:|-]+\|?\s*$/.test(lines[at + 1] ?? "")) {
      flush();
      const head = cells(line);
      at++;
      const rows = [];
      while (/^\s*\|.*\|\s*$/.test(lines[at + 1] ?? "")) rows.push(cells(lines[++at]));
      made.push(html`<table><thead><tr>${head.map((c) => html`<th>${inline(c)}</th>`)}</tr></thead><tbody>${rows.map((r) => html`<tr>${r.map((c) => html`<td>${inline(c)}</td>`)}</tr>`)}</tbody></table>`);
    } else if (/^\s*([-*+]|\d{1,3}[.)])\s+\S/.test(line)) {
      flush();
      const item = /^(\s*)([-*+]|\d{1,3}[.)])\s+([^]*)$/.exec(line);
      made.push(html`<div class="item ${(item?.[1].length ?? 0) > 1 ? "deeper" : ""}"><span class="bullet">${/\d/.test(item?.[2] ?? "") ? item?.[2] : "•"}</span><span>${inline(item?.[3] ?? "")}</span></div>`);
    } else if (!line.trim()) {
      flush();
    } else {
      words.push(line);
    }
  }
  flush();
  return made;
}

/** @param {string} line */
function cells(line) {
  return line.trim().replace(/^\||\|$/g, "").split("|").map((c) => c.trim());
}

/**
 * @param {string} text
 * @param {number} [depth]
 * @returns {Child[]}
 */
function inline(text, depth = 0) {
  /** @type {Child[]} */
  const made = [];
  while (text) {
    const hit = depth < DEEPEST ? INLINE.exec(text) : null;
    if (!hit) return [...made, text];
    made.push(text.slice(0, hit.index));
    const [whole, , code, round, square, dollars, dollar, bold, italic] = hit;
    let length = whole.length;
    const formula = round ?? square ?? dollars ?? dollar;
    if (code !== undefined) made.push(html`<code>${code}</code>`);
    else if (formula !== undefined) made.push(html`<${Tex} source=${formula} display=${false} />`);
    else if (bold !== undefined) made.push(html`<strong>${inline(bold, depth + 1)}</strong>`);
    else if (italic !== undefined) made.push(html`<em>${inline(italic, depth + 1)}</em>`);
    else {
      length = closed(text, hit.index + whole.length - 1) - hit.index;
      made.push(html`<${Tex} source=${text.slice(hit.index, hit.index + length)} display=${false} />`);
    }
    text = text.slice(hit.index + length);
  }
  return made;
}

/**
 * Return the position after the brace that closes the brace at `from`.
 * @param {string} text
 * @param {number} from
 */
function closed(text, from) {
  let open = 0;
  for (let at = from; at < text.length; at++) {
    if (text[at] === "{") open++;
    if (text[at] === "}" && --open === 0) return at + 1;
  }
  return text.length;
}

/**
 * A formula, shown as source until the renderer is loaded or if it is invalid.
 * @param {{source: string, display: boolean, after?: string}} props
 */
function Tex({ source, display, after = "" }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const [made, setMade] = useState(false);
  useEffect(() => {
    let gone = false;
    import("./tex.js").then(({ mathOf }) => {
      if (gone || !place.current) return;
      try {
        place.current.replaceChildren(mathOf(source, display));
        setMade(true);
      } catch {
        setMade(false);
      }
    });
    return () => {
      gone = true;
    };
  }, [source, display]);
  return html`<span class="formula ${display ? "display" : ""}" key=${source}><span ref=${place}></span>${!made && html`<span>${source}</span>`}${after}</span>`;
}

/** @param {string} code */
function highlighted(code) {
  /** @type {Child[]} */
  const made = [];
  let from = 0;
  for (const hit of code.matchAll(CODE)) {
    const kind = hit.slice(1).findIndex((part) => part !== undefined) + 1;
    made.push(code.slice(from, hit.index), html`<span class="code-${KINDS[kind]}">${hit[0]}</span>`);
    from = (hit.index ?? 0) + hit[0].length;
  }
  return [...made, code.slice(from)];
}
