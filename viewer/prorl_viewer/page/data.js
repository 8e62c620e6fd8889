// Loads answers from the page's server, or from the page itself if it was exported with --html.
import { useEffect, useState } from "./lib.js";

/** @typedef {{kind: "run" | "dataset" | "evaluation", name: string, version: string, run: string}} Subject `run`: the run whose folder contains it */
/** @typedef {{name: string, data: any, error: string}} Answer of one subject */
/** @typedef {Record<string, string | number | undefined>} Query */
/** @typedef {{text?: string, length?: number}} Private a text of a model or a data set; `text` is absent on a share-safe page */

const AGAIN = 600; // milliseconds before an incomplete answer is requested again
const EVERY = 2000; // milliseconds between checks for changes
const token = new URLSearchParams(location.search).get("token") ?? "";
const held = document.getElementById("answers");
/** @type {{subjects: Subject[], share_safe: boolean, opens: string, answers: Record<string, any>, refused: Record<string, {error: string}>} | null} */
const file = held === null ? null : JSON.parse(held.textContent ?? "");

/** Whether this page is an exported file, which has no actions and only the exported answers. */
export const exported = file !== null;

/** The subject that an exported file opens first, or "" for the list of subjects. */
export const opens = file?.opens ?? "";

/** @param {Query} query */
function words(query) {
  return Object.keys(query)
    .filter((key) => query[key] !== undefined && query[key] !== "")
    .sort()
    .map((key) => /** @type {[string, string]} */ ([key, String(query[key])]));
}

/**
 * @param {string} path
 * @param {RequestInit} [options]
 */
async function ask(path, options = {}) {
  const response = await fetch(path, { ...options, headers: { Authorization: `Bearer ${token}` } });
  if (response.status === 500) throw new Error("prorl view failed at this: where it was started it says why");
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error ?? `status ${response.status}`);
  return answer;
}

/**
 * Return the address of a page's answer.
 * @param {string} subject
 * @param {string} page
 * @param {Query} query
 */
function address(subject, page, query) {
  return `api/${encodeURIComponent(subject)}/${page}?${new URLSearchParams(words(query))}`;
}

/**
 * Request an answer once, without updates.
 * @param {string} subject
 * @param {string} page
 * @param {Query} [query]
 * @param {AbortSignal} [signal]
 */
export async function get(subject, page, query = {}, signal) {
  if (file === null) return ask(address(subject, page, query), { signal });
  const key = `${subject}/${page}?${words(query).map(([k, v]) => `${k}=${v}`).join("&")}`;
  if (!(key in file.answers)) {
    const why = file.refused[key] ?? file.refused[`${subject}/`];
    throw new Error(why?.error ?? "this file does not hold it: open the original with prorl view");
  }
  return file.answers[key];
}

/**
 * Run an action, such as scoring an answer again.
 * @param {string} subject
 * @param {string} action
 * @param {Query} [query]
 */
export function act(subject, action, query = {}) {
  return ask(address(subject, action, query), { method: "POST" });
}

/** @type {{subjects: Subject[], shareSafe: boolean, error: string}} */
let known = { subjects: file?.subjects ?? [], shareSafe: file?.share_safe ?? false, error: "" };
/** @type {Set<() => void>} */
const listeners = new Set();

async function look() {
  if (document.hidden && known.subjects.length) return;
  let now = known;
  try {
    const found = await ask("api/subjects");
    now = { subjects: found.subjects, shareSafe: found.share_safe, error: "" };
  } catch (error) {
    now = { ...known, error: error instanceof TypeError ? "prorl view has ended: this is what it said last" : String(error) };
  }
  if (JSON.stringify(now) !== JSON.stringify(known)) {
    known = now;
    for (const tell of listeners) tell();
  }
}

/** Start checking for changes. */
export function start() {
  if (exported) return Promise.resolve();
  setInterval(look, EVERY);
  document.addEventListener("visibilitychange", look);
  return look();
}

/** Return the subjects and the server's state, and render again when they change. */
export function useSubjects() {
  const [, again] = useState(0);
  useEffect(() => {
    const tell = () => again((n) => n + 1);
    listeners.add(tell);
    return () => {
      listeners.delete(tell);
    };
  }, []);
  return known;
}

/**
 * Return a page's answer, requested again when the subject changes. The previous answer is kept while it loads.
 * @param {string} subject
 * @param {string} page
 * @param {Query} [query]
 * @returns {{data: any, error: string, loading: boolean}}
 */
export function useData(subject, page, query = {}) {
  const { subjects } = useSubjects();
  const version = subjects.find((s) => s.name === subject)?.version ?? "";
  const what = `${subject}/${page}?${JSON.stringify(words(query))}`;
  const [state, set] = useState({ what: "", data: /** @type {any} */ (null), error: "", loading: true });
  useEffect(() => {
    if (!page) return undefined;
    const stop = new AbortController();
    set((now) => ({ ...now, loading: true }));
    get(subject, page, query, stop.signal).then(
      (data) => set({ what, data, error: "", loading: false }),
      (error) => {
        if (!stop.signal.aborted) set({ what, data: null, error: error.message, loading: false });
      },
    );
    return () => stop.abort();
  }, [what, version]);
  return state;
}

/**
 * Return one page of several subjects, requested again when a subject changes or its answer was incomplete.
 * @param {string[]} names
 * @param {string} page
 * @param {Record<string, string>} query
 * @returns {Answer[]}
 */
export function useMany(names, page, query) {
  const { subjects } = useSubjects();
  const versions = names.map((name) => subjects.find((s) => s.name === name)?.version);
  const [state, set] = useState(/** @type {Answer[]} */ ([]));
  const [round, again] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    let timer = 0;
    Promise.all(
      names.map((name) =>
        get(name, page, query, stop.signal).then(
          (data) => ({ name, data, error: "" }),
          (error) => ({ name, data: null, error: String(error.message) }),
        ),
      ),
    ).then((found) => {
      if (stop.signal.aborted) return;
      set(found);
      if (found.some((f) => f.data?.unread > 0)) timer = setTimeout(() => again((n) => n + 1), AGAIN);
    });
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [JSON.stringify([names, versions, page, query]), round]);
  return state.filter((s) => names.includes(s.name));
}
