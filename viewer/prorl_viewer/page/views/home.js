// The home page: runs with their gains and evaluations, then other evaluations and datasets.
import { useData, useMany } from "../data.js";
import { Field } from "../field.js";
import { html, shown, useState } from "../lib.js";
import { link } from "../router.js";
import { Table } from "../table.js";
import { Name } from "../text.js";
import { Evaluated, Gain, Spark, State } from "./learned.js";
import { differing, said } from "./run_settings.js";

/** @typedef {import("../data.js").Subject} Subject */
/** @typedef {import("../router.js").Route} Route */

const LONGEST = 200; // maximum number of characters of a value on a card

/** @param {{subjects: Subject[], route: Route}} props */
export function HomeView({ subjects, route }) {
  const runs = subjects.filter((s) => s.kind === "run");
  const evaluations = subjects.filter((s) => s.kind === "evaluation");
  const alone = evaluations.filter((e) => !e.run);
  const datasets = subjects.filter((s) => s.kind === "dataset");
  return html`${runs.length > 0 ? html`<${Runs} runs=${runs} evaluations=${evaluations} route=${route} />` : html`<h1 class="visually-hidden">prorl</h1>`}
    ${alone.length > 0 && html`<section><h2>${runs.length ? "Other evaluations" : "Evaluations"}</h2><ul class="cards">${alone.map((s) => html`<li class="card" key=${s.name}><${Evaluated} name=${s.name} /></li>`)}</ul></section>`}
    ${datasets.length > 0 && html`<section><h2>Datasets</h2><ul class="cards">${datasets.map((s) => html`<${Dataset} key=${s.name} name=${s.name} />`)}</ul></section>`}`;
}

/** @param {{runs: Subject[], evaluations: Subject[], route: Route}} props */
function Runs({ runs, evaluations, route }) {
  const answers = useMany(runs.map((s) => s.name), "summary", {});
  const [picked, setPicked] = useState(/** @type {string[]} */ ([]));
  const [choosing, setChoosing] = useState(false);
  const settings = useSettings(runs, choosing || Boolean(route.query.columns));
  const chosen = (route.query.columns ?? "").split(",").filter((key) => settings.some((s) => s.key === key));
  const words = (route.query.q ?? "").toLowerCase();
  const rows = runs
    .map((s) => ({ name: s.name, error: "", ...answers.find((a) => a.name === s.name), under: evaluations.filter((e) => e.run === s.name) }))
    .filter((r) => !words || [r.name, r.data?.state_words, r.data?.preset, r.data?.model].some((v) => String(v ?? "").toLowerCase().includes(words)))
    .sort((a, b) => (b.data?.written ?? 0) - (a.data?.written ?? 0));
  const rose = rows.filter((r) => r.data?.verdict === "rose").length;
  const validated = rows.filter((r) => r.data?.gain).length;
  /** @param {string} key */
  const toggled = (key) => (chosen.includes(key) ? chosen.filter((k) => k !== key) : [...chosen, key]).join(",");
  const columns = [
    { key: "name", title: "run", value: (/** @type {any} */ r) => r.name, show: (/** @type {any} */ r) => html`<${RunName} row=${r} />` },
    { key: "spark", title: "validation", value: (/** @type {any} */ r) => r.data?.validation?.value, number: false, show: (/** @type {any} */ r) => r.data && html`<${Spark} line=${r.data.spark} />` },
    { key: "gain", title: "gain [95 %]", number: true, value: (/** @type {any} */ r) => r.data?.gain?.value, show: (/** @type {any} */ r) => r.data && html`<${Gain} of=${r.data.gain} verdict=${r.data.verdict} />` },
    { key: "validation", title: "latest validation", number: true, minor: true, value: (/** @type {any} */ r) => r.data?.validation?.value, show: (/** @type {any} */ r) => places(r.data?.validation?.value) },
    { key: "reward", title: "training reward", number: true, minor: true, value: (/** @type {any} */ r) => r.data?.reward, show: (/** @type {any} */ r) => places(r.data?.reward) },
    { key: "step", title: "steps", number: true, minor: true, value: (/** @type {any} */ r) => r.data?.step, show: (/** @type {any} */ r) => r.data && html`${shown(r.data.step)}${r.data.steps && html`<span class="unit"> / ${shown(r.data.steps)}</span>`}` },
    ...chosen.map((key) => ({ key: `setting ${key}`, title: key, minor: true, value: (/** @type {any} */ r) => settings.find((s) => s.key === key)?.values[r.name] })),
    { key: "written", title: "last written", minor: true, number: true, value: (/** @type {any} */ r) => r.data?.written, show: (/** @type {any} */ r) => r.data && date(r.data.written) },
    { key: "state", title: "state", minor: true, value: (/** @type {any} */ r) => r.data?.state_words, show: (/** @type {any} */ r) => r.data && html`<${State} of=${r.data} />` },
    ...(runs.length > 1 ? [{ key: "pick", title: "compare", minor: true, value: (/** @type {any} */ r) => Number(picked.includes(r.name)), show: (/** @type {any} */ r) => html`<input type="checkbox" aria-label="compare ${r.name}" checked=${picked.includes(r.name)} onClick=${(/** @type {Event} */ e) => e.stopPropagation()} onChange=${() => setPicked(picked.includes(r.name) ? picked.filter((n) => n !== r.name) : [...picked, r.name])} />` }] : []),
  ];
  return html`<h1>Runs</h1>
    <p class="lead">${answers.length < runs.length ? "Reading the runs…" : validated ? `${rose} of ${validated} validated ${validated === 1 ? "run" : "runs"} learned: the interval of the gain lies above 0.` : "No run has been validated twice yet, so none shows a gain."}</p>
    <div class="filters">
      ${runs.length > 5 && html`<${Field} title="find" value=${route.query.q ?? ""} told=${(/** @type {string} */ q) => route.go({ q }, true)} hint="name, model, preset, state" first />`}
      ${runs.length > 1 && html`<details class="choose minor" onToggle=${(/** @type {any} */ e) => setChoosing(e.currentTarget.open)}><summary>columns${chosen.length ? `: ${chosen.length}` : ""}</summary>
        <fieldset><legend>settings that differ between these runs</legend>
          ${settings.length ? settings.map(({ key }) => html`<label class="check"><input type="checkbox" checked=${chosen.includes(key)} onChange=${() => route.go({ columns: toggled(key) }, true)} /> ${key}</label>`) : html`<span class="none">none</span>`}
        </fieldset></details>`}
      ${picked.length > 1 && html`<button class="main" onClick=${() => (location.hash = link(picked[0], "run", { with: picked.slice(1).join(",") }))}>compare ${picked.length} runs</button>`}
    </div>
    <div class="runs"><${Table} label="runs" columns=${columns} rows=${rows} id=${(/** @type {any} */ r) => r.name} onOpen=${(/** @type {any} */ r) => (location.hash = link(r.name, "run"))} empty="no run has these words" /></div>`;
}

/** @param {{row: any}} props */
function RunName({ row }) {
  return html`<a class="name" href=${link(row.name, "run")}><${Name} value=${row.name} /></a>
    <div class="soft">${row.data && [row.data.model?.split("/").at(-1), row.data.preset].filter(Boolean).map((/** @type {string} */ v, /** @type {number} */ i) => html`${i > 0 && " · "}<${Name} value=${v} />`)}</div>
    ${(row.error || row.data?.reason) && html`<div class="bad"><${Name} value=${(row.error || row.data.reason).slice(0, LONGEST)} /></div>`}
    ${row.under.length > 0 && html`<ul class="under" onClick=${(/** @type {Event} */ e) => e.stopPropagation()}>${row.under.map((/** @type {Subject} */ e) => html`<li key=${e.name}><${Evaluated} name=${e.name} /></li>`)}</ul>`}`;
}

/**
 * The settings that differ between runs, with each run's value.
 * @param {Subject[]} runs
 * @param {boolean} needed
 */
function useSettings(runs, needed) {
  const answers = useMany(needed ? runs.map((s) => s.name) : [], "config", {}).filter((a) => a.data);
  return differing(answers.map((a) => a.data)).map(({ key, values }) => ({ key, values: /** @type {Record<string, string>} */ (Object.fromEntries(values.map((v, i) => [answers[i].name, said(v)]))) }));
}

/** @param {{name: string}} props */
function Dataset({ name }) {
  const { data, error } = useData(name, "summary");
  return html`<li class="card"><a href=${link(name, "dataset")}><${Name} value=${name} /></a>
    ${error && html`<p class="error">${error}</p>`}
    ${data && html`<p class="soft">${shown(data.rows)} rows · <${Name} value=${data.domains ?? "no domains"} /></p>
      ${data.description && html`<p><${Name} value=${data.description.slice(0, LONGEST)} /></p>`}`}
  </li>`;
}

/** @param {number | null | undefined} value */
function places(value) {
  return value === null || value === undefined ? "–" : value.toFixed(3);
}

/** @param {number} seconds since 1970 */
function date(seconds) {
  const time = new Date(1000 * seconds);
  return html`<time datetime=${time.toISOString()}>${time.toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" })}</time>`;
}
