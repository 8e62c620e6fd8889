// The list of rollouts, which requests a hundred rows at a time as they come into view.
import { exported, get, useSubjects } from "../data.js";
import { html, shown, useEffect, useMemo, useRef, useState } from "../lib.js";
import { compared } from "../table.js";
import { Name, Text } from "../text.js";

/** @typedef {Record<string, any>} Row */
/** @typedef {{total: number, of: number, complete: boolean, files_read: number, files: number, problems: string[], searched: number, values?: Record<string, Record<string, number>>, asked?: string}} About */
/** @typedef {ReturnType<typeof useRows>} Rows */

const CHUNK = 100;
const KEPT = 50; // maximum number of chunks kept in memory
const ROW = 34; // height of a row in pixels
const AROUND = 10; // rows drawn above and below the visible ones
const AGAIN = 400; // milliseconds before an incomplete answer is requested again
const IN_FILE = "400"; // rows that an exported page holds
const PROMPTS = [
  { key: "step", title: "step", number: true },
  { key: "marks", title: "rewards, one mark a response" },
  { key: "mean_reward", title: "mean", number: true, minor: true },
  { key: "mean_tokens", title: "tokens", number: true, minor: true },
  { key: "domain", title: "domain", minor: true },
  { key: "sample_id", title: "prompt" },
  { key: "", title: "asked", minor: true },
];
const COLUMNS = [
  { key: "step", title: "step", number: true },
  { key: "sample_id", title: "sample" },
  { key: "domain", title: "domain", minor: true },
  { key: "task", title: "task", minor: true },
  { key: "reward", title: "reward", number: true },
  { key: "advantage", title: "adv.", number: true, minor: true },
  { key: "tokens", title: "tokens", number: true, minor: true },
  { key: "finish_reason", title: "finish", minor: true },
  { key: "status", title: "status", minor: true },
  { key: "kept", title: "trained", minor: true },
  { key: "", title: "response" },
];

/** @param {Row} row */
export function idOf(row) {
  return row.rewards ? `${row.step}.${row.sample_id}` : `${row.step}.${row.row}`;
}

/**
 * The rows of a query, requested in chunks and kept until the query changes.
 * @param {string} subject
 * @param {string} page "groups": a row a prompt and step, "rollouts": a row a response
 * @param {Record<string, string>} query
 */
export function useRows(subject, page, query) {
  const { subjects } = useSubjects();
  const version = subjects.find((s) => s.name === subject)?.version ?? "";
  const what = `${subject}/${page}?${JSON.stringify(query)}`;
  const [, draw] = useState(0);
  const [range, setRange] = useState([0, 0]);
  const kept = useRef({ what: "", chunks: /** @type {Map<number, Row[]>} */ (new Map()), about: /** @type {Partial<About>} */ ({}), error: "" });
  if (kept.current.what !== what) {
    // the previous query's rows stay on screen until this query's first rows arrive
    kept.current = { ...kept.current, what, error: "" };
  }
  const [again, setAgain] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    let timer = 0;
    const chunks = [...new Set(range)];
    Promise.all(chunks.map((chunk) => ask(subject, page, query, chunk, stop.signal))).then(
      (answers) => {
        const now = kept.current;
        const same = now.what === what && now.about.asked === what;
        now.chunks = same ? now.chunks : new Map();
        answers.forEach((answer, at) => {
          now.chunks.delete(chunks[at]); // insert it again as the newest chunk
          now.chunks.set(chunks[at], answer.rows);
        });
        for (const oldest of [...now.chunks.keys()].slice(0, -KEPT)) now.chunks.delete(oldest);
        now.about = { ...answers[0], asked: what };
        now.error = "";
        if (!answers[0].complete) timer = setTimeout(() => setAgain((n) => n + 1), AGAIN);
        draw((n) => n + 1);
      },
      (error) => {
        if (stop.signal.aborted) return;
        kept.current.error = error.message;
        draw((n) => n + 1);
      },
    );
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [what, version, range[0], range[1], again]);

  const { chunks, about, error } = kept.current;
  return useMemo(() => {
    /** @param {number} at @returns {Row | undefined} */
    const rowAt = (at) => chunks.get(Math.floor(at / CHUNK))?.[at % CHUNK];
    return {
      what,
      about,
      error,
      rowAt,
      /**
       * Set the range of visible rows.
       * @param {number} from
       * @param {number} to
       */
      see(from, to) {
        const wanted = [Math.floor(from / CHUNK), Math.floor(Math.max(from, to - 1) / CHUNK)];
        setRange((now) => (now[0] === wanted[0] && now[1] === wanted[1] ? now : wanted));
      },
      /**
       * Return a row's position in the list, or -1 if it is not loaded.
       * @param {string} id
       */
      placeOf(id) {
        for (const [chunk, rows] of chunks) {
          const at = rows.findIndex((row) => idOf(row) === id);
          if (at >= 0) return chunk * CHUNK + at;
        }
        return -1;
      },
      /**
       * Return the id of the row `by` positions after `at`, or "".
       * @param {number} at
       * @param {number} by
       */
      async beside(at, by) {
        const next = at < 0 ? 0 : at + by;
        if (next < 0 || next >= (about.total ?? 0)) return "";
        const chunk = Math.floor(next / CHUNK);
        if (!chunks.has(chunk)) chunks.set(chunk, (await ask(subject, page, query, chunk)).rows);
        const row = rowAt(next);
        return row === undefined ? "" : idOf(row);
      },
    };
  }, [chunks, about, error, what]);
}

/**
 * @param {string} subject
 * @param {string} page
 * @param {Record<string, string>} query
 * @param {number} chunk
 * @param {AbortSignal} [signal]
 * @returns {Promise<About & {rows: Row[]}>}
 */
async function ask(subject, page, query, chunk, signal) {
  if (!exported) return get(subject, page, { ...query, offset: chunk * CHUNK, limit: CHUNK }, signal);
  const all = await get(subject, "rollouts", { limit: IN_FILE });
  const found = [];
  for (const row of all.rows) if (await passes(subject, query, row)) found.push(row);
  const { sort = "step", order = sort === "step" ? "desc" : "asc" } = query;
  const listed = page === "groups" ? await grouped(subject, found) : found;
  if (sort !== "step" || order !== "desc") listed.sort((a, b) => compared(a[sort], b[sort], order === "desc"));
  return { ...all, total: listed.length, of: all.rows.length, complete: true, rows: listed.slice(chunk * CHUNK, (chunk + 1) * CHUNK) };
}

/**
 * The prompts of the matching rows, each with all of its rewards.
 * @param {string} subject
 * @param {Row[]} found
 * @returns {Promise<Row[]>}
 */
async function grouped(subject, found) {
  const { rows } = await get(subject, "groups", { limit: IN_FILE });
  const prompts = new Set(found.map((row) => `${row.step}.${row.sample_id}`));
  return rows.filter((/** @type {Row} */ row) => prompts.has(idOf(row)));
}

/**
 * Return whether a row of an exported file matches the query, as on the server.
 * @param {string} subject
 * @param {Record<string, string>} query
 * @param {Row} row
 */
async function passes(subject, query, row) {
  for (const [key, wanted] of Object.entries(query)) {
    if (key === "q") {
      const whole = await get(subject, "rollout", { step: row.step, row: row.row });
      const messages = (whole.prompt?.messages ?? []).map((/** @type {any} */ m) => m.content.text ?? "");
      const texts = [row.sample_id ?? "", whole.response?.text ?? "", ...messages];
      if (!texts.some((text) => text.toLowerCase().includes(wanted.toLowerCase()))) return false;
    } else if (["step", "reward", "tokens", "advantage"].includes(key)) {
      const ends = wanted.split("..");
      const [low, high] = [ends[0], ends[ends.length - 1]];
      if (row[key] === null || row[key] < Number(low || -Infinity) || row[key] > Number(high || Infinity)) return false;
    } else if (key === "kept") {
      if (row.kept !== (wanted === "yes")) return false;
    } else if (!["sort", "order"].includes(key) && ![wanted, ...wanted.split(",")].includes(row[key] ?? "")) {
      return false;
    }
  }
  return true;
}

/**
 * @param {{
 *   rows: Rows,
 *   chosen: string,
 *   query: Record<string, string>,
 *   go: (changes: import("../router.js").Changes, replace?: boolean) => void,
 *   narrow: boolean,
 *   prompts: boolean,
 * }} props `prompts`: a row a prompt and step, else a row a response
 */
export function List({ rows, chosen, query, go, narrow, prompts }) {
  const [top, setTop] = useState(0);
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  const { about, error } = rows;
  const total = about.total ?? 0;
  const height = frame.current?.clientHeight ?? 600;
  const from = Math.max(0, Math.min(Math.floor(top / ROW), total - 1) - AROUND);
  const to = Math.min(total, Math.ceil((top + height) / ROW) + AROUND);
  useEffect(() => rows.see(from, to), [from, to, rows]);
  const sort = prompts ? "step" : query.sort || "step";
  const down = (query.order || (sort === "step" ? "desc" : "asc")) === "desc";
  useEffect(() => {
    if (frame.current) frame.current.scrollTop = 0;
  }, [rows.what]);

  useEffect(() => bring(rows.placeOf(chosen)), [chosen]);

  /**
   * Scroll a row into view, as little as possible.
   * @param {number} at
   */
  function bring(at) {
    if (at < 0 || frame.current === null) return;
    const y = at * ROW;
    if (y < frame.current.scrollTop) frame.current.scrollTop = y;
    if (y + 2 * ROW > frame.current.scrollTop + height) frame.current.scrollTop = y + 2 * ROW - height;
  }

  /** @param {number} at */
  function focusRow(at) {
    if (at < 0 || at >= total || frame.current === null) return;
    bring(at);
    const focus = () => {
      const row = /** @type {HTMLElement | null} */ (frame.current?.querySelector(`tr[data-at="${at}"]`));
      row?.focus();
      return row;
    };
    if (!focus()) requestAnimationFrame(focus);
  }

  /** @param {KeyboardEvent} event */
  function walk(event) {
    const row = /** @type {HTMLElement} */ (event.target).closest("tr");
    if (!row?.dataset.at) return;
    const at = Number(row.dataset.at);
    const steps = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, PageDown: 15, PageUp: -15, Home: -total, End: total };
    if (event.key in steps && !(chosen && "jk".includes(event.key))) {
      event.preventDefault();
      focusRow(Math.max(0, Math.min(total - 1, at + steps[/** @type {keyof typeof steps} */ (event.key)])));
    } else if (event.key === "Enter") {
      open(rows.rowAt(at));
    }
  }

  /** @param {Row | undefined} row */
  function open(row) {
    if (row?.rewards) go({ at: null, group: row.step, prompt: null, sample: row.sample_id });
    else if (row !== undefined) go({ at: idOf(row), group: null, prompt: null, sample: null });
  }

  /** @param {string} key */
  function sortBy(key) {
    const order = sort === key ? !down : key !== "sample_id";
    go({ sort: key === "step" && order ? null : key, order: key === "step" && order ? null : order ? "desc" : "asc" });
  }

  const columns = (prompts ? PROMPTS : COLUMNS).filter((c) => !(narrow && c.minor));
  return html`<p class="rollout-count" role="status">
      ${about.total === undefined ? "reading" : html`<strong>${total.toLocaleString("en")}</strong> ${prompts ? html`prompts by step, ${(about.of ?? 0).toLocaleString("en")} responses in all <span class="marks-key"><${Marks} rewards=${[1, 0.5, 0, null]} /> full, part, none, no verdict</span>` : html`of ${(about.of ?? 0).toLocaleString("en")} rollouts`}`}
      ${about.complete === false && html` <span class="note">so far: ${progress(about)}</span>`}
    </p>
    ${error && html`<p class="error" role="alert">${error}</p>`}
    ${(about.problems ?? []).length > 0 &&
    html`<details class="note"><summary>${about.problems?.length} left out or noted</summary><ul>${about.problems?.map((line) => html`<li>${line}</li>`)}</ul></details>`}
    ${total === 0 && about.complete
      ? html`<p class="none">${about.of ? "no rollout passes these filters" : "the run has no rollout files yet (it writes them at the steps that its setting logging.rollouts_every selects)"}</p>`
      : html`<div class="table long rollout-rows" ref=${frame} tabindex="0" role="region" aria-label="list of rollouts" onKeyDown=${walk}
          onScroll=${(/** @type {Event} */ e) => setTop(/** @type {HTMLElement} */ (e.currentTarget).scrollTop)}>
          <table aria-rowcount=${total + 1}>
            <thead><tr>${columns.map((c) => html`<th class="${c.number ? "number" : ""} ${c.minor ? "minor" : ""}" aria-sort=${sort === c.key ? (down ? "descending" : "ascending") : undefined}>
              ${c.key && (!prompts || c.key === "step") ? html`<button onClick=${() => sortBy(c.key)}>${c.title}${sort === c.key ? (down ? "\u00a0↓" : "\u00a0↑") : ""}</button>` : c.title}</th>`)}</tr></thead>
            <tbody>
              ${from > 0 && html`<tr class="gap" aria-hidden="true"><td colspan=${columns.length} height=${from * ROW}></td></tr>`}
              ${Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i).map((at) => {
                const row = rows.rowAt(at);
                const id = row && idOf(row);
                return html`<tr key=${at} data-at=${at} aria-rowindex=${at + 2} tabindex="0" class=${id && id === chosen ? "chosen" : ""} onClick=${() => open(row)}>
                  ${columns.map((c) => html`<td class="${c.number ? "number" : ""} ${c.minor ? "minor" : ""} ${c.key || "wide"}">${row ? cell(row, c.key) : c.key === "step" ? "…" : ""}</td>`)}
                </tr>`;
              })}
              ${to < total && html`<tr class="gap" aria-hidden="true"><td colspan=${columns.length} height=${(total - to) * ROW}></td></tr>`}
            </tbody>
          </table>
        </div>`}`;
}

/** @param {Partial<About>} about */
function progress(about) {
  const { files_read: read = 0, files = 0 } = about;
  return read < files ? `${read.toLocaleString("en")} of ${files.toLocaleString("en")} step files read` : "searching";
}

/**
 * @param {Row} row
 * @param {string} key
 */
function cell(row, key) {
  if (key === "") return html`${row.found_in === "prompt" && html`<span class="note">prompt </span>`}<${Text} value=${row.head} inline=${true} />`;
  if (key === "marks") return html`<${Marks} rewards=${row.rewards} />`;
  if (key === "mean_reward") return row[key] === null ? "–" : row[key].toFixed(2);
  if (key === "mean_tokens") return row[key] === null ? "–" : Math.round(row[key]).toLocaleString("en");
  if (key === "reward") return html`<${Reward} value=${row.reward} />`;
  if (key === "kept") return row.kept ? "yes" : "no";
  const value = row[key];
  if (typeof value === "string") return html`<${Name} value=${value} />`;
  return typeof value === "number" && key !== "step" ? shown(value) : (value ?? "–");
}

const MARK = 14; // distance between marks in pixels
const MARKS = 32; // marks drawn in a row

/**
 * Rewards as marks: filled for 1, a ring for 0, half filled between, a dash without a verdict.
 * @param {{rewards: (number | null)[]}} props
 */
export function Marks({ rewards }) {
  const drawn = rewards.slice(0, MARKS);
  const passed = rewards.filter((r) => r !== null && r >= 1 - 1e-9).length;
  return html`<svg class="marks" width=${MARK * drawn.length} height=${MARK} viewBox="0 0 ${MARK * drawn.length} ${MARK}" role="img" aria-label="${passed} of ${rewards.length} with full marks">
      ${drawn.map((r, i) => {
        const x = MARK * i + MARK / 2;
        if (r === null) return html`<line x1=${x - 3} x2=${x + 3} y1=${MARK / 2} y2=${MARK / 2} />`;
        if (r >= 1 - 1e-9) return html`<circle class="full" cx=${x} cy=${MARK / 2} r="5" />`;
        if (r <= 0) return html`<circle class="none" cx=${x} cy=${MARK / 2} r="4.25" />`;
        return html`<circle class="none" cx=${x} cy=${MARK / 2} r="4.25" /><path d="M ${x - 4.5} ${MARK / 2} a 4.5 4.5 0 0 0 9 0 z" />`;
      })}
    </svg>${rewards.length > MARKS && ` ${rewards.length}`}`;
}

/**
 * A reward as a number, in the colour of full, partial or no reward.
 * @param {{value: number | null}} props
 */
export function Reward({ value }) {
  return html`<span class=${value === null ? "none" : value >= 1 - 1e-9 ? "good" : value <= 0 ? "bad" : "warn"}>${shown(value)}</span>`;
}
