// The filters of the list of rollouts; their state is in the address.
import { Field } from "../field.js";
import { html, useState } from "../lib.js";

/** @typedef {import("../router.js").Changes} Changes */
/** @typedef {(changes: Changes, replace?: boolean) => void} Go */

const FIELDS = [
  { name: "q", title: "text or id", hint: "in response, prompt, id" },
  { name: "step", title: "step", hint: "12 or 1..9" },
  { name: "reward", title: "reward", hint: "0.5..1" },
  { name: "tokens", title: "tokens", hint: "..2000" },
];
const CHOICES = [
  { name: "domain", title: "domain" },
  { name: "task", title: "task" },
  { name: "verifier", title: "verifier" },
  { name: "status", title: "status" },
  { name: "finish_reason", title: "finish" },
];

/** @param {{names: string[], query: Record<string, string>, values: Record<string, Record<string, number>>, go: Go}} props */
export function Filters({ names, query, values, go }) {
  const [more, setMore] = useState(false);
  const active = names.filter((name) => query[name]);
  return html`<form class="filters rollout-filters ${more ? "more" : ""}" role="search" aria-label="filter the rollouts" onSubmit=${(/** @type {Event} */ e) => e.preventDefault()}>
    ${FIELDS.map((field) => html`<${Field} key=${field.name} ...${field} value=${query[field.name] ?? ""} told=${(/** @type {string} */ text) => go({ [field.name]: text }, true)} first=${field.name === "q"} look=${`for-${field.name}`} />`)}
    ${CHOICES.map(({ name, title }) => {
      const known = Object.entries(values[name] ?? {});
      const asDomain = name === "verifier" && JSON.stringify(values.verifier) === JSON.stringify(values.domain);
      if ((known.length < 2 || asDomain) && !query[name]) return "";
      const extra = query[name] && !Object.hasOwn(values[name] ?? {}, query[name]);
      return html`<label class="extra">${title}
        <select value=${query[name] ?? ""} onChange=${(/** @type {Event} */ e) => go({ [name]: /** @type {HTMLSelectElement} */ (e.target).value })}>
          <option value="">any</option>
          ${extra && html`<option value=${query[name]}>${query[name]}</option>`}
          ${known.map(([word, count]) => html`<option value=${word}>${word} (${count.toLocaleString("en")})</option>`)}
        </select></label>`;
    })}
    <label class="extra">trained on
      <select value=${query.kept ?? ""} onChange=${(/** @type {Event} */ e) => go({ kept: /** @type {HTMLSelectElement} */ (e.target).value })}>
        <option value="">any</option><option value="yes">yes</option><option value="no">no</option>
      </select></label>
    <button type="button" class="quiet more-filters" aria-expanded=${more} onClick=${() => setMore(!more)}>${more ? "fewer" : "more"} filters</button>
    ${active.length > 0 && html`<button type="button" onClick=${() => go(Object.fromEntries(active.map((name) => [name, null])))}>clear</button>`}
  </form>`;
}
