// A field of a filter: what is typed is told once the typing pauses.
import { html, useEffect, useRef, useState } from "./lib.js";

const WAIT = 200; // milliseconds after a key

/**
 * @param {{title: string, value: string, told: (text: string) => void, first?: boolean, name?: string, hint?: string, look?: string}} props
 *   `first`: the one that "/" leads to; `look`: a class
 */
export function Field({ title, value, told, first = false, name, hint, look }) {
  const [typed, setTyped] = useState(value);
  const sent = useRef(value);
  useEffect(() => {
    if (value === sent.current) return;
    sent.current = value; // changed elsewhere: a link, the button that clears
    setTyped(value);
  }, [value]);
  useEffect(() => {
    if (typed === sent.current) return undefined;
    const later = setTimeout(() => {
      sent.current = typed;
      told(typed);
    }, WAIT);
    return () => clearTimeout(later);
  }, [typed]);
  return html`<label class=${look}>
    ${title}
    <input type="search" name=${name} value=${typed} placeholder=${hint} maxlength="1000" autocomplete="off" spellcheck=${false} data-filter=${first ? "" : undefined}
      onInput=${(/** @type {Event} */ e) => setTyped(/** @type {HTMLInputElement} */ (e.target).value)} />
  </label>`;
}
