// All that is shown here, a card each.
import { useData } from "../data.js";
import { html, shown } from "../lib.js";
import { link } from "../router.js";
import { seen } from "../text.js";

/** @typedef {import("../data.js").Subject} Subject */

const KINDS = /** @type {const} */ ([
  ["run", "Runs"],
  ["dataset", "Datasets"],
  ["evaluation", "Evaluations"],
]);

const LONGEST = 300; // characters of a value on a card

/** @param {{subjects: Subject[]}} props */
export function HomeView({ subjects }) {
  return html`<h1 class="visually-hidden">prorl</h1>
    ${KINDS.map(([kind, title]) => {
      const found = subjects.filter((s) => s.kind === kind);
      return found.length > 0 && html`<section><h2>${title}</h2><ul class="cards">${found.map((s) => html`<${Card} key=${s.name} subject=${s} />`)}</ul></section>`;
    })}`;
}

/** @param {{subject: Subject}} props */
function Card({ subject }) {
  const { data, error } = useData(subject.name, "summary");
  return html`<li class="card">
    <a href=${link(subject.name, subject.kind)}><bdi>${seen(subject.name)}</bdi></a>
    ${error && html`<p class="error">${error}</p>`}
    <dl>
      ${Object.entries(data ?? {})
        .filter(([, value]) => typeof value === "string" || typeof value === "number")
        .map(([key, value]) => html`<dt>${key.replaceAll("_", " ")}</dt><dd>${typeof value === "number" ? shown(value) : html`<bdi>${seen(value.slice(0, LONGEST))}${value.length > LONGEST ? "…" : ""}</bdi>`}</dd>`)}
    </dl>
  </li>`;
}
