// The page's only library, and small helpers.
export {
  render,
  useEffect,
  useErrorBoundary,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "./vendor/preact.js";

import { html as made, useLayoutEffect, useRef } from "./vendor/preact.js";

/** @typedef {import("./vendor/preact.js").VNode} VNode */
/** @typedef {import("./vendor/preact.js").Child} Child */

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

/** @type {WeakMap<TemplateStringsArray, boolean[]>} */
const attributes = new WeakMap();

/**
 * Return nodes from a template. Strings between tags are shown by `seen`; attributes are kept, as addresses and fields need their exact value.
 * @param {TemplateStringsArray} strings
 * @param {...unknown} values
 */
export function html(strings, ...values) {
  const places = attributes.get(strings) ?? attributePlaces(strings);
  attributes.set(strings, places);
  return made(strings, ...values.map((value, i) => (places[i] ? value : shownText(value))));
}

/**
 * Return for each value of a template whether it stands inside a tag.
 * @param {TemplateStringsArray} strings
 */
function attributePlaces(strings) {
  let inside = false;
  return strings.map((part) => {
    const [open, close] = [part.lastIndexOf("<"), part.lastIndexOf(">")];
    if (open !== close) inside = open > close;
    return inside;
  });
}

/**
 * @param {unknown} value
 * @returns {unknown}
 */
function shownText(value) {
  if (typeof value === "string") return seen(value);
  return Array.isArray(value) ? value.map(shownText) : value;
}

/**
 * Format a number for display: 1,234, 0.123, 1.2e-6, or "–" for a missing one.
 * @param {number | null | undefined} value
 * @param {number} [digits] significant digits
 */
export function shown(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(digits - 1).replace(/\.?0+e/, "e");
  const places = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return value.toLocaleString("en", { maximumFractionDigits: Math.min(places, 8) });
}

/**
 * Format a difference with its sign; a difference that rounds to 0 has no sign.
 * @param {number} value
 * @param {number} [places]
 */
export function signed(value, places = 3) {
  const size = Math.abs(value).toFixed(places);
  return Number(size) === 0 ? size : `${value > 0 ? "+" : "-"}${size}`;
}

/**
 * Call `pressed` for every key without modifiers, starting when the component is drawn, so that no key is lost.
 * Keys typed into a field are ignored.
 * @param {(event: KeyboardEvent) => void} pressed
 */
export function useKey(pressed) {
  const newest = useRef(pressed);
  newest.current = pressed;
  useLayoutEffect(() => {
    /** @param {KeyboardEvent} event */
    const tell = (event) => {
      if (!isTyping(event) && !event.ctrlKey && !event.metaKey && !event.altKey) newest.current(event);
    };
    addEventListener("keydown", tell);
    return () => removeEventListener("keydown", tell);
  }, []);
}

/**
 * Return whether a key is typed into a field.
 * @param {KeyboardEvent} event
 */
export function isTyping(event) {
  return ["INPUT", "TEXTAREA", "SELECT"].includes(/** @type {HTMLElement} */ (event.target).tagName);
}
