// A filter's text field, which reports its text when typing pauses.
import { html, useEffect, useRef, useState } from "./lib.js";

const WAIT = 200; // milliseconds after the last key

/**
 * @param {{title: string, value: string, told: (text: string) => void, first?: boolean, name?: string, hint?: string, look?: string}} props
 *   `told`: called with the text; `first`: the key "/" focuses this field; `look`: a CSS class
 */
export function Field({ title, value, told, first = false, name, hint, look }) {
  const [typed, setTyped] = useState(value);
  const sent = useRef(value);
  useEffect(() => {
    if (value === sent.current) return;
    sent.current = value; // changed by a link or the button that clears filters
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
