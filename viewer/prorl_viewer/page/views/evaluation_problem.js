// One problem with its prompt, and the answers of two models side by side.
import { exported, useData } from "../data.js";
import { html, shown, useKey } from "../lib.js";
import { Table } from "../table.js";
import { Reference, Text } from "../text.js";
import { Response, useRaw } from "../markdown.js";
import { CheckAgain } from "./check_again.js";
import { Turns } from "./rollout_one.js";
import { wanted } from "./evaluation_problems.js";
import { Share } from "./evaluation_shared.js";

/** @typedef {import("./evaluation.js").Part} Part */
/** @typedef {import("./evaluation.js").Model} Model */
/** @typedef {import("../router.js").Route} Route */
/** @typedef {"left" | "right"} Side */

/** @type {Record<string, string>} */
const KINDS = { right: "right", wrong: "wrong", unparsable: "no answer extracted", timeout: "verifier timeout", infra_error: "no verdict", cut: "cut at the limit", unjudged: "not judged yet" };

const TROUBLES = [["cut", "cut"], ["unparsable", "no answer"], ["timeouts", "timeouts"], ["infra_errors", "no verdict"]];

/** @param {Part & {matrix: import("./evaluation_problems.js").Matrix}} props */
export function ProblemPage({ subject, route, models, every, matrix }) {
  const problem = route.query.problem;
  const { data, error } = useData(subject, "problem", { problem });
  const rows = wanted(matrix, models, route.query);
  const at = rows.findIndex((row) => row.id === problem);
  const [before, after] = [rows[at - 1], at >= 0 ? rows[at + 1] : undefined];
  useSteps(route, before?.id, after?.id);
  const left = every.find((m) => m.key === route.query.left) ?? models[0];
  const right = every.find((m) => m.key === route.query.right) ?? models[models.length - 1];
  return html`
    <p class="filters">
      <a href=${route.href(closed)}>all problems</a>
      ${before && html`<a href=${route.href(moved(before.id))} title="k">previous</a>`}
      ${after && html`<a href=${route.href(moved(after.id))} title="j">next</a>`}
      <span class="unit">${at >= 0 ? `${at + 1} of ${rows.length}` : ""}</span>
    </p>
    <h2><bdi>${problem}</bdi></h2>
    ${error && html`<p class="error" role="alert">${error}</p>`}
    ${data && html`<${Asked} data=${data} />`}
    ${data && html`<${Counts} data=${data} route=${route} models=${models} />`}
    ${data && html`<div class=${left === right ? "" : "two"}>
      <${Answers} subject=${subject} route=${route} problem=${problem} side="left" model=${left} every=${every} />
      ${left !== right && html`<${Answers} subject=${subject} route=${route} problem=${problem} side="right" model=${right} every=${every} />`}
    </div>`}
  `;
}

const closed = { problem: null, left: null, right: null, leftAnswer: null, rightAnswer: null, leftIs: null, rightIs: null, leftQ: null, rightQ: null };
/** @param {string} problem */
const moved = (problem) => ({ ...closed, left: undefined, right: undefined, problem });

/**
 * j and k go to the next and previous problem, Esc to all problems.
 * @param {Route} route
 * @param {string | undefined} before
 * @param {string | undefined} after
 */
function useSteps(route, before, after) {
  useKey((event) => {
    if (/** @type {HTMLElement} */ (event.target).closest("tr, svg")) return;
    if (event.key === "Escape") route.go(closed);
    const to = event.key === "j" ? after : event.key === "k" ? before : undefined;
    if (to !== undefined) route.go(moved(to));
  });
}

/** @param {{data: any}} props */
function Asked({ data }) {
  const facts = [data.domain, ...Object.entries(data.labels).map(([k, v]) => `${k} ${v}`), data.verifier && `verifier ${data.verifier}`].filter(Boolean);
  return html`<p class="unit">${facts.join(" · ")}</p>
    ${data.altered && html`<p class="warn">Models were asked different things under this id: it enters no comparison.</p>`}
    ${data.prompt.length === 0 && html`<p class="none">The folder says nothing of the prompt: it holds a result alone.</p>`}
    <div class="asked">${data.prompt.map((/** @type {any} */ m) => html`<h3>${m.role}</h3><${Response} value=${m.content} label="prompt" raw=${false} />`)}</div>
    ${data.reference && html`<${Reference} value=${data.reference} />`}`;
}

/** @param {{data: any, route: Route, models: Model[]}} props */
function Counts({ data, route, models }) {
  const rows = models.map((own) => data.models.find((/** @type {any} */ m) => m.key === own.key)).filter((m) => m?.asked);
  return html`<${Table}
    label="counts of each model"
    rows=${rows}
    id=${(/** @type {any} */ m) => m.key}
    onOpen=${(/** @type {any} */ m) => route.go({ right: m.key, rightAnswer: null, rightIs: null, rightQ: null })}
    columns=${[
      { key: "label", title: "model" },
      { key: "right", title: "right", number: true, show: (/** @type {any} */ m) => html`<${Share} cell=${[m.right, m.judged]} />` },
      { key: "reward", title: "reward", number: true, show: (/** @type {any} */ m) => shown(m.reward) },
      { key: "length", title: "tokens", number: true, show: (/** @type {any} */ m) => shown(m.length) },
      ...TROUBLES.filter(([key]) => rows.some((m) => m[key] > 0)).map(([key, title]) => ({ key, title, number: true })),
    ]}
  />`;
}

/** @param {{subject: string, route: Route, problem: string, side: Side, model: Model, every: Model[]}} props */
function Answers({ subject, route, problem, side, model, every }) {
  const [answer, is, q] = [`${side}Answer`, `${side}Is`, `${side}Q`];
  const { data, error } = useData(subject, "samples", { problem, model: model.key, q: exported ? "" : route.query[q] });
  const rows = (data?.samples ?? []).filter((/** @type {any} */ s) => !route.query[is] || s.kinds.includes(route.query[is]));
  const index = route.query[answer] ?? String(rows[0]?.index ?? "");
  return html`<section aria-label="answers of ${model.label}">
    <div class="filters">
      <label>model<select value=${model.key} onChange=${(/** @type {any} */ e) => route.go({ [side]: e.target.value, [answer]: null })}>
        ${every.map((m) => html`<option value=${m.key}>${m.label}</option>`)}
      </select></label>
      <label>verdict<select value=${route.query[is] ?? ""} onChange=${(/** @type {any} */ e) => route.go({ [is]: e.target.value, [answer]: null })}>
        <option value="">any</option>
        ${Object.entries(data?.counts ?? {}).map(([kind, count]) => html`<option value=${kind}>${KINDS[kind] ?? kind} (${count})</option>`)}
      </select></label>
      ${!exported && html`<label>words<input type="search" value=${route.query[q] ?? ""} onChange=${(/** @type {any} */ e) => route.go({ [q]: e.target.value, [answer]: null }, true)} /></label>`}
    </div>
    ${error && html`<p class="error" role="alert">${error}</p>`}
    ${data && html`<p class="unit" role="status">${rows.length === data.all ? "" : `${rows.length} of `}${data.all} answers</p>
      <div class="answers tight"><${Table}
        label="answers of ${model.label}"
        rows=${rows}
        id=${(/** @type {any} */ s) => String(s.index)}
        chosen=${index}
        onOpen=${(/** @type {any} */ s) => route.go({ [answer]: s.index })}
        columns=${[
          { key: "index", title: "#", number: true },
          { key: "kinds", title: "verdict", value: (/** @type {any} */ s) => s.kinds.join(" "), show: (/** @type {any} */ s) => html`<${Kinds} of=${s.kinds} />` },
          { key: "extracted", title: "answer", value: (/** @type {any} */ s) => s.extracted?.text, show: (/** @type {any} */ s) => html`<${Text} value=${s.extracted} inline />` },
          { key: "tokens", title: "tokens", number: true, minor: true },
          { key: "start", title: "begins", wide: true, show: (/** @type {any} */ s) => html`<${Text} value=${s.start} inline />` },
        ]}
        empty=${data.all ? "no answer is left: take a filter away" : "no answer yet"}
      /></div>`}
    ${index !== "" && html`<${Answer} key=${`${model.key}/${index}`} subject=${subject} problem=${problem} model=${model.key} index=${index} />`}
  </section>`;
}

/** @param {{of: string[]}} props */
function Kinds({ of }) {
  return of.map((kind) => html`<span class="kind ${kind === "right" ? "good" : kind === "wrong" ? "bad" : "warn"}">${KINDS[kind] ?? kind} </span>`);
}

/** @param {{subject: string, problem: string, model: string, index: string}} props */
function Answer({ subject, problem, model, index }) {
  const query = { problem, model, index };
  const { data, error } = useData(subject, "sample", query);
  const { raw, button } = useRaw();
  if (error) return html`<p class="error" role="alert">${error}</p>`;
  if (data === null) return html`<p class="none" role="status">reading</p>`;
  return html`<article class="panel">
    <h3>Answer ${index} <${Kinds} of=${data.kinds} /> ${button}</h3>
    <dl>
      <dt>reward</dt><dd>${shown(data.reward)} <span class="unit">${data.status}</span></dd>
      <dt>why</dt><dd><${Text} value=${data.reason} inline /></dd>
      <dt>extracted</dt><dd><${Text} value=${data.extracted} inline /></dd>
      <dt>length</dt><dd>${shown(data.tokens)} tokens, ${shown(data.characters)} characters, ended by ${data.finish}</dd>
      <dt>mean log-prob</dt><dd>${shown(data.logprob_mean)} a token</dd>
      ${data.note && html`<dt>note</dt><dd><${Text} value=${data.note} inline /></dd>`}
      ${Object.entries(data.metrics).map(([name, value]) => html`<dt>${name}</dt><dd>${typeof value === "number" ? shown(value) : html`<${Text} value=${value} inline />`}</dd>`)}
    </dl>
    <${Turns} turns=${data.turns} raw=${raw} />
    <${Response} value=${data.text} label="answer ${index}" raw=${raw} />
    ${data.checkable && html`<${CheckAgain} subject=${subject} query=${query} />`}
  </article>`;
}
