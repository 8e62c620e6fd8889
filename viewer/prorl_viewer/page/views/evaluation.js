// The view of an evaluation, which compares models on the same problems. Its parts are separate modules.
import { Chart } from "../chart.js";
import { useData, useSubjects } from "../data.js";
import { html, shown } from "../lib.js";
import { link } from "../router.js";
import { Name } from "../text.js";
import { ClaimsTab } from "./evaluation_claims.js";
import { HowTab, Plain } from "./evaluation_how.js";
import { ProblemPage } from "./evaluation_problem.js";
import { ProblemsTab, useMatrix } from "./evaluation_problems.js";
import { Dots } from "./evaluation_dots.js";
import { Change, Regime, three, Waiting } from "./evaluation_shared.js";
import { SolvableTab } from "./evaluation_solvable.js";

/** @typedef {import("../router.js").Route} Route */
/** @typedef {{key: string, label: string, finished: boolean, colour: number}} Model `colour`: the same in every chart and table */
/** @typedef {{subject: string, route: Route, models: Model[], every: Model[]}} Part `models` are the chosen ones, the baseline first */

const TABS = [
  { name: "", title: "Overview", show: OverviewTab },
  { name: "problems", title: "Problems", show: ProblemsTab },
  { name: "claims", title: "Claims", show: ClaimsTab },
  { name: "solvable", title: "Gained and lost", show: SolvableTab },
  { name: "how", title: "How it was made", show: HowTab },
];

/** @param {{subject: string, route: Route}} props */
export function EvaluationView({ subject, route }) {
  const { data, error } = useData(subject, "summary");
  const matrix = useMatrix(subject, route);
  const run = useSubjects().subjects.find((s) => s.name === subject)?.run;
  if (error) return html`<p class="error" role="alert">${error}</p>`;
  if (data === null) return html`<p class="none" role="status">reading</p>`;
  const base = data.each.find((/** @type {any} */ m) => m.label === data.baseline);
  const every = [base, ...data.each.filter((/** @type {any} */ m) => m !== base)].map((m, i) => ({ ...m, colour: i % 8 }));
  const models = chosen(every, route.query.models ?? "");
  const tab = TABS.find((t) => t.name === (route.query.tab ?? "")) ?? TABS[0];
  const part = { subject, route, models, every };
  return html`
    <h1><${Name} value=${subject} /></h1>
    <p class="soft">${shown(data.problems)} problems · ${every.length} ${every.length === 1 ? "model" : "models"} · ${unfinished(data)}${run && html` · of the run <a href=${link(run, "run")}><${Name} value=${run} /></a>`}</p>
    ${every.length > 1 && html`<${Models} ...${part} />`}
    <nav class="tabs" aria-label="parts of the evaluation">
      ${TABS.map(
        (t) => html`<a class="tab" href=${route.href({ tab: t.name, problem: null })} aria-current=${t === tab && !route.query.problem ? "page" : undefined}>${t.title}</a>`,
      )}
    </nav>
    ${route.query.problem ? html`<${ProblemPage} key=${route.query.problem} ...${part} matrix=${matrix} />` : html`<${tab.show} ...${part} summary=${data} matrix=${matrix} />`}
  `;
}

/**
 * Return the models in the address (default: all), the baseline first.
 * @param {Model[]} every
 * @param {string} names
 * @returns {Model[]}
 */
function chosen(every, names) {
  const found = names.split(",").map((key) => every.find((m) => m.key === key)).filter((m) => m !== undefined);
  return found.length ? /** @type {Model[]} */ (found) : every;
}

/** @param {any} data */
function unfinished(data) {
  const open = data.each.filter((/** @type {any} */ m) => !m.finished);
  const bad = data.each.reduce((/** @type {number} */ sum, /** @type {any} */ m) => sum + m.unreadable_lines, 0);
  const answers = typeof data.answers === "number" ? `${shown(data.answers)} answers` : `${data.answers}`;
  const left = open.length ? html` <span class="warn">(unfinished: ${open.map((/** @type {any} */ m) => m.label).join(", ")})</span>` : "";
  return html`${answers}${left}${bad > 0 && html` <span class="bad">· ${shown(bad)} unreadable lines</span>`}`;
}

/**
 * Chooses the models to show; the first is the baseline.
 * @param {Part} props
 */
function Models({ route, models, every }) {
  const wide = matchMedia("(min-width: 701px)").matches;
  /** @param {Model[]} wanted */
  const set = (wanted) => route.go({ models: wanted.length === every.length && wanted.every((m, i) => m === every[i]) ? null : wanted.map((m) => m.key).join(",") });
  /** @param {Model} model */
  const toggle = (model) => {
    const left = models.filter((m) => m !== model);
    if (left.length < models.length) return left.length ? set(left) : undefined;
    const base = models[0];
    return set([base, ...every.filter((m) => m !== base && (m === model || models.includes(m)))]);
  };
  return html`<details class="models" open=${wide && !route.query.problem}><summary>${models.length} of ${every.length} models, against ${models[0].label}</summary>
  <div class="filters" role="group" aria-label="models that are shown">
    <label>baseline
      <select value=${models[0].key} onChange=${(/** @type {any} */ e) => {
        const base = /** @type {Model} */ (every.find((m) => m.key === e.target.value));
        set([base, ...models.filter((m) => m !== base)]);
      }}>
        ${every.map((m) => html`<option value=${m.key}>${m.label}</option>`)}
      </select>
    </label>
    <div class="legend">
      ${every.map((m) => html`<button class="key c${m.colour}" aria-pressed=${models.includes(m)} onClick=${() => toggle(m)}>${m.label}</button>`)}
    </div>
    ${models.length > 2 && html`<button onClick=${() => set([models[0], models[models.length - 1]])}>first and last alone</button>`}
    ${models.length < every.length && html`<button onClick=${() => set(every)}>all</button>`}
  </div></details>`;
}

/**
 * The main finding, the models' numbers, every problem as a dot, and pass@k.
 * @param {Part & {summary: any, matrix: import("./evaluation_problems.js").Matrix}} props
 */
function OverviewTab({ subject, route, models, summary, matrix }) {
  const claims = useData(subject, "claims", { models: route.query.models });
  const [first, ...others] = claims.data?.headline ?? [];
  return html`
    <section aria-label="in short">
      <${Waiting} state=${claims} what="differences and claims" />
      ${first && html`<p class="sentence">${first}</p><ul class="said">${[...others, ...(claims.data.verdict ?? [])].map((l) => html`<li>${l}</li>`)}</ul>`}
      ${claims.data?.caveats?.length > 0 && html`<details><summary>Before you believe it (${claims.data.caveats.length})</summary><ul>${claims.data.caveats.map((/** @type {string} */ l) => html`<li>${l}</li>`)}</ul></details>`}
    </section>
    <${Scores} models=${models} each=${summary.each} claims=${claims.data?.claims ?? []} route=${route} />
    <div class="pair">
      <${Dots} matrix=${matrix} models=${models} route=${route} />
      <${Curves} subject=${subject} route=${route} models=${models} />
    </div>
    ${(claims.data?.tables ?? []).map((/** @type {any} */ t) => html`<section><h2>${t.title}</h2><${Plain} label=${t.title} head=${t.head} rows=${t.rows} /></section>`)}
  `;
}

/**
 * Means over problems with a row per model; all intervals of the table are of the same kind.
 * @param {{models: Model[], each: any[], claims: any[], route: Route}} props
 */
function Scores({ models, each, claims, route }) {
  const own = models.map((m) => each.find((e) => e.key === m.key));
  /** @type {string[]} */
  const groups = [...new Set(own.flatMap((m) => m.scores.map((/** @type {any} */ s) => s.group)))];
  if (!groups.length) return null;
  const group = groups.includes(route.query.of) ? route.query.of : groups[0];
  const again = route.query.interval === "again";
  const scores = own.map((m) => m.scores.find((/** @type {any} */ s) => s.group === group));
  const metrics = [...new Set(scores.flatMap((s) => Object.keys((again ? s?.fixed : s?.metrics) ?? {})))];
  const changes = models.map((m) => claims.find((c) => c.checkpoint === m.label && (c.group === group || c.group === `${group}:${group}` || c.name === group))?.changes ?? {});
  const compared = !again && models.length > 1 && changes.some((c) => c["pass@1"]);
  return html`<section><h2>Means over problems</h2>
    <div class="filters">
      ${groups.length > 1 && html`<label>of<select value=${group} onChange=${(/** @type {any} */ e) => route.go({ of: e.target.value === groups[0] ? null : e.target.value }, true)}>${groups.map((g) => html`<option value=${g}>${g === "overall" ? "all problems" : g}</option>`)}</select></label>`}
      <label>95 % intervals for<select value=${again ? "again" : ""} onChange=${(/** @type {any} */ e) => route.go({ interval: e.target.value }, true)}>
        <option value="">other problems like these</option><option value="again">these problems, sampled again</option></select></label>
    </div>
    <div class="table tight scores" tabindex="0" role="region" aria-label="means over problems"><table>
      <thead><tr><th>model</th>${metrics.map((m) => html`<th class="number ${m === "reward" ? "minor" : ""}">${m}</th>`)}${compared && html`<th class="number">pass@1 against ${models[0].label}</th>`}</tr></thead>
      <tbody>${models.map((m, i) => html`<tr><th scope="row"><span class="key-dot c${m.colour}"></span><${Name} value=${m.label} /></th>
        ${metrics.map((metric) => {
          const value = scores[i]?.metrics[metric];
          const span = (again ? scores[i]?.fixed : scores[i]?.metrics)?.[metric];
          return html`<td class="number ${metric === "reward" ? "minor" : ""}">${three((value ?? span)?.value)} ${span?.count > 0 && html`<span class="unit">[${three(span.low)}, ${three(span.high)}]</span>`}</td>`;
        })}
        ${compared && html`<td class="number">${i === 0 ? "" : html`<${Change} of=${changes[i]["pass@1"]} />`}</td>`}</tr>`)}</tbody>
    </table></div>
  </section>`;
}

/** @param {{subject: string, route: Route, models: Model[]}} props */
function Curves({ subject, route, models }) {
  const group = route.query.group ?? "overall:overall";
  const state = useData(subject, "curves", { models: route.query.models, group });
  const data = state.data?.state === "ready" ? state.data : null;
  const lines = (data?.lines ?? []).map((/** @type {any} */ line) => ({
    name: line.label,
    colour: models.find((m) => m.key === line.key)?.colour ?? 0,
    points: line.points.map((/** @type {number[]} */ p) => [p[0], p[1]]),
    low: line.points.map((/** @type {number[]} */ p) => [p[0], p[2]]),
    high: line.points.map((/** @type {number[]} */ p) => [p[0], p[3]]),
    dots: true,
  }));
  const most = Math.max(1, ...lines.flatMap((/** @type {any} */ l) => l.points.map((/** @type {number[]} */ p) => p[0])));
  const near = data && most > data.fewest / 2 && data.fewest > 1 ? [{ from: data.fewest / 2, to: most, label: "k above n/2: little more than whether any sample succeeded" }] : [];
  const name = data?.group.replace(/^\w+:/, "") ?? "";
  return html`<section><h2>pass@k</h2>
    <${Waiting} state=${state} what="the curves of the problems that all share, and of benchmarks and tasks" />
    ${data?.groups?.length > 1 && html`<div class="filters"><label>group
      <select value=${data.group} onChange=${(/** @type {any} */ e) => route.go({ group: e.target.value === "overall:overall" ? null : e.target.value })}>
        ${data.groups.map((/** @type {any} */ g) => html`<option value=${g.name}>${g.kind === "overall" ? "all problems" : `${g.kind} ${g.name.replace(/^\w+:/, "")}`} (${g.problems})</option>`)}
      </select></label></div>`}
    ${lines.length > 0 && html`<${Chart} title="pass@k of ${name}" unit="${data.problems} problems" series=${lines} bands=${near} xLabel="k" log least=${[0, 1]} />
      <p class="none">Unbiased estimate for every power of two up to n; bands are ${100 * data.level}% intervals over ${data.shared ? "the problems that all models share" : "each model's own problems"}${near.length ? "; shaded: k above n/2, where pass@k is little more than whether any sample succeeded" : ""}.</p>`}
    ${data?.claims?.length > 0 && html`<ul class="said">${data.claims.map((/** @type {any} */ c) => html`<li><${Regime} name=${c.regime} /> ${c.checkpoint}: ${c.reason}</li>`)}</ul>`}
  </section>`;
}
