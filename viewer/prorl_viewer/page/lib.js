// The page's only library, and small helpers.
export {
  html,
  render,
  useCallback,
  useEffect,
  useErrorBoundary,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "./vendor/preact.js";

import { useLayoutEffect, useRef } from "./vendor/preact.js";

/** @typedef {import("./vendor/preact.js").VNode} VNode */
/** @typedef {import("./vendor/preact.js").Child} Child */

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
  return Number(size) === 0 ? size : `${value > 0 ? "+" : "−"}${size}`;
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
