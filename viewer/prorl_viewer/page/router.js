// The address #/<subject>/<view>?key=value holds the page's state, so that every state has a link.
import { useEffect, useState } from "./lib.js";

/** @typedef {{subject: string, view: string, query: Record<string, string>}} Place */
/** @typedef {Record<string, string | number | null | undefined>} Changes null or "" removes a key */
/** @typedef {Place & {go: (changes: Changes, replace?: boolean) => void, href: (changes: Changes) => string}} Route */

/** @returns {Place} */
function read() {
  const [path = "", search = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const [subject = "", view = ""] = path.split("/").map(decoded);
  return { subject, view, query: Object.fromEntries(new URLSearchParams(search)) };
}

/**
 * Decode a part of an address; return an invalid part unchanged.
 * @param {string} part
 */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * Return the address of a view.
 * @param {string} subject
 * @param {string} view
 * @param {Changes} [query]
 */
export function link(subject, view, query = {}) {
  const kept = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const search = new URLSearchParams(kept.map(([key, value]) => [key, String(value)])).toString();
  return `#/${encodeURIComponent(subject)}/${view}${search && `?${search}`}`;
}

/**
 * Return the current place, and render again when it changes.
 * @returns {Route}
 */
export function useRoute() {
  const [place, set] = useState(read);
  useEffect(() => {
    const tell = () => set(read());
    addEventListener("hashchange", tell);
    return () => removeEventListener("hashchange", tell);
  }, []);
  /** @param {Changes} changes */
  const href = (changes) => link(place.subject, place.view, { ...place.query, ...changes });
  return {
    ...place,
    href,
    /**
     * @param {Changes} changes
     * @param {boolean} [replace]
     */
    go(changes, replace = false) {
      const now = read(); // several changes may occur before the page is drawn again
      const to = link(now.subject, now.view, { ...now.query, ...changes });
      if (to === location.hash) return;
      if (replace) {
        history.replaceState(null, "", to);
        dispatchEvent(new HashChangeEvent("hashchange"));
      } else {
        location.hash = to;
      }
    },
  };
}
