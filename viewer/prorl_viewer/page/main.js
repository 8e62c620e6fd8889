// The page: shows the subject and view in the address, and the parts common to all views.
import { exported, opens, start, useSubjects } from "./data.js";
import { html, isTyping, render, seen, useEffect, useErrorBoundary, useKey, useState } from "./lib.js";
import { link, useRoute } from "./router.js";
import { Name } from "./text.js";
import { DatasetView } from "./views/dataset.js";
import { EvaluationView } from "./views/evaluation.js";
import { HomeView } from "./views/home.js";
import { RolloutsView } from "./views/rollouts.js";
import { RunView } from "./views/run.js";

/** @typedef {import("./router.js").Route} Route */
/** @typedef {{name: string, title: string, show: (props: {subject: string, route: Route}) => unknown}} View */

/**
 * The views of each kind of subject; the first is the default.
 * @type {Record<string, View[]>}
 */
const VIEWS = {
  run: [
    { name: "run", title: "Run", show: RunView },
    { name: "rollouts", title: "Rollouts", show: RolloutsView },
  ],
  dataset: [{ name: "dataset", title: "Dataset", show: DatasetView }],
  evaluation: [{ name: "evaluation", title: "Evaluation", show: EvaluationView }],
};
const KEYS = [
  ["?", "these shortcuts"],
  ["/", "to the filter"],
  ["Tab, arrows, j and k", "walk through rows, values and marks"],
  ["Enter", "open a row, a mark, a step"],
  ["Esc", "close, and leave a field"],
  ["u", "up: all that is shown here"],
];

function Page() {
  const { subjects, shareSafe, error } = useSubjects();
  const route = useRoute();
  const [keys, setKeys] = useState(false);
  const only = subjects.length === 1 ? subjects[0] : undefined;
  const subject = subjects.find((s) => s.name === route.subject) ?? (route.subject ? undefined : only);
  const views = subject ? VIEWS[subject.kind] : [];
  const view = views.find((v) => v.name === route.view) ?? views[0];
  useKey((event) => {
    if (event.key === "?") setKeys((now) => !now);
    if (event.key === "Escape") setKeys(false);
    if (event.key === "u") location.hash = "#/";
    if (event.key === "/") {
      event.preventDefault();
      /** @type {HTMLElement | null} */ (document.querySelector("[data-filter]"))?.focus();
    }
  });
  useEffect(() => {
    addEventListener("keydown", leaveField);
    return () => removeEventListener("keydown", leaveField);
  }, []);
  useEffect(() => {
    // put a single subject into the address too, so that every link names its subject
    const first = only ?? (location.hash ? undefined : subjects.find((s) => s.name === opens));
    if (!route.subject && first) location.replace(link(first.name, VIEWS[first.kind][0].name));
  }, [route.subject, only?.name]);
  useEffect(() => {
    document.title = subject ? `${seen(subject.name)} · ${view.title} · prorl` : "prorl view";
  }, [subject?.name, view?.title]);

  return html`
    <a class="skip" href="#content" onClick=${skip}>to the content</a>
    <header>
      <nav aria-label="what is shown">
        <a class="home" href="#/">prorl</a>
        ${subjects.length > 1 && subject && html`<span class="where"><${Name} value=${subject.name} /></span>`}
        ${subject && views.map((v) => html`<a class="tab" href=${link(subject.name, v.name)} aria-current=${v === view ? "page" : undefined}>${v.title}</a>`)}
      </nav>
      <div class="tools">
        ${exported && html`<span class="note">a file</span>`} ${shareSafe && html`<span class="note">prompts and answers left out</span>`}
        <button class="quiet minor" onClick=${() => setKeys(!keys)} aria-expanded=${keys}>keyboard shortcuts</button>
        <${Theme} />
      </div>
    </header>
    ${error && html`<p class="error" role="alert">${error}</p>`}
    ${keys && html`<section class="keys" aria-label="keyboard shortcuts"><dl>${KEYS.map(([key, what]) => html`<dt>${key}</dt><dd>${what}</dd>`)}</dl></section>`}
    <main id="content" class="view-${subject && view ? view.name : "home"}" tabindex="-1">
      ${subject && view
        ? html`<${Guard} key=${`${subject.name}/${view.name}`}><${view.show} subject=${subject.name} route=${{ ...route, subject: subject.name, view: view.name }} /><//>`
        : html`${route.subject && subjects.length > 0 && html`<p class="error">there is no <${Name} value=${route.subject} /> here</p>`}<${HomeView} subjects=${subjects} route=${route} />`}
    </main>
  `;
}

/**
 * Shows a view's error instead of an empty page.
 * @param {{children?: unknown}} props
 */
function Guard({ children }) {
  const [error, again] = useErrorBoundary((e) => console.error(e));
  if (error) return html`<p class="error" role="alert">this view has a fault: ${String(error)} <button onClick=${again}>try again</button></p>`;
  return children;
}

/** @param {KeyboardEvent} event */
function leaveField(event) {
  if (event.key === "Escape" && isTyping(event)) /** @type {HTMLElement} */ (event.target).blur();
}

/** @param {Event} event */
function skip(event) {
  event.preventDefault();
  document.getElementById("content")?.focus();
}

/** A switch between light, dark and the system's theme. */
function Theme() {
  const [theme, setTheme] = useState(() => stored() ?? "");
  useEffect(() => {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    try {
      localStorage.setItem("prorl-theme", theme);
    } catch {
      // a file or a private window has no storage
    }
  }, [theme]);
  /** @type {Record<string, string>} */
  const next = { "": "dark", dark: "light", light: "" };
  return html`<button class="quiet" onClick=${() => setTheme(next[theme])} title="light, dark, or as the system says">theme: ${theme || "system"}</button>`;
}

function stored() {
  try {
    return localStorage.getItem("prorl-theme");
  } catch {
    return null;
  }
}

start().then(() => render(html`<${Page} />`, /** @type {Element} */ (document.getElementById("page"))));
