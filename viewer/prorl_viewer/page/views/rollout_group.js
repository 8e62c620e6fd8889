// All responses to one prompt in one step, with their verdicts and their differences from a right response.
import { Difference } from "../difference.js";
import { useData } from "../data.js";
import { html, shown, useState } from "../lib.js";
import { Response, useRaw } from "../markdown.js";
import { Name, Reference, Text } from "../text.js";
import { Marks, Reward } from "./rollout_list.js";
import { Messages } from "./rollout_one.js";

/** @typedef {import("../router.js").Route} Route */

/** @param {{subject: string, step: string, sample: string, route: Route, close: () => void}} props */
export function Group({ subject, step, sample, route, close }) {
  const { data, error } = useData(subject, "group", { step, sample });
  const { raw, button } = useRaw();
  if (error) return html`<div class="rollout-head"><button onClick=${close}>close</button></div><p class="error" role="alert">${error}</p>`;
  if (data === null) return html`<p class="none">reading</p>`;
  const at = data.steps.indexOf(data.step);
  /** @param {number} to */
  const other = (to) => route.href({ group: data.steps[to] });
  const right = data.rows.filter((/** @type {any} */ r) => r.reward >= 1 - 1e-9 && r.response?.text);
  return html`<div class="rollout-head">
      <h2>Step ${data.step}, <${Name} value=${sample} />: ${data.passed} of ${data.scored} passed</h2>
      <span class="buttons">
        ${at > 0 && html`<a href=${other(at - 1)}>step ${data.steps[at - 1]}</a>`}
        ${at + 1 < data.steps.length && html`<a href=${other(at + 1)}>step ${data.steps[at + 1]}</a>`}
        <a href=${route.href({ group: null, sample: null, prompt: sample })}>prompt over the steps</a>
        ${button}
        <button onClick=${close}>close</button>
      </span>
    </div>
    <p class="soft"><${Marks} rewards=${data.rows.map((/** @type {any} */ r) => r.reward)} /> mean reward ${shown(data.mean_reward)} · mean tokens ${shown(data.mean_tokens)} · cut by the limit ${data.truncated} · trained on ${data.kept} of ${data.responses}</p>
    <${Messages} prompt=${data.prompt} raw=${raw} />
    ${data.reference && html`<${Reference} value=${data.reference} />`}
    <div class="group">
      ${data.rows.map((/** @type {any} */ row) => html`<${One} key=${row.row} row=${row} right=${row.reward >= 1 - 1e-9 ? null : nearest(right, row)} raw=${raw} route=${route} />`)}
    </div>`;
}

const COMPARED = 2000; // number of characters compared to find the most similar response

/**
 * Return the right response that shares the most words with a given response.
 * @param {any[]} right
 * @param {any} row
 */
function nearest(right, row) {
  /** @param {any} one */
  const words = (one) => new Set((one.response?.text ?? "").slice(0, COMPARED).split(/\s+/));
  const own = words(row);
  const shared = right.map((one) => {
    const others = words(one);
    return [...others].filter((word) => own.has(word)).length / Math.max(others.size, own.size);
  });
  return right[shared.indexOf(Math.max(...shared))];
}

/** @param {{row: any, right: any, raw: boolean, route: Route}} props `right`: a right response to compare it with */
function One({ row, right, raw, route }) {
  const [compared, setCompared] = useState(false);
  const number = (row.sample_index ?? row.row) + 1;
  const wrong = right && row.response?.text !== undefined;
  return html`<article class="card ${row.reward >= 1 - 1e-9 ? "is-right" : row.reward === null ? "" : "is-wrong"}">
    <div class="response-head">
      <h3><a href=${route.href({ group: null, sample: null, list: "responses", at: `${row.step}.${row.row}` })}>response ${number}</a></h3>
      <span><${Reward} value=${row.reward} /> <span class="soft">reward</span></span>
      ${row.extracted && html`<span class="extracted"><span class="soft">extracted</span> <${Text} value=${row.extracted} inline=${true} /></span>`}
    </div>
    <p class="soft"><${Text} value=${row.reason} inline=${true} /> · ${shown(row.tokens)} tokens, <${Name} value=${row.finish_reason} />, <${Name} value=${row.status} />, ${row.advantage === null ? "not trained on" : `${shown(row.advantage)} advantage`}</p>
    ${wrong && html`<button class="pick" aria-pressed=${compared} onClick=${() => setCompared(!compared)}>difference to response ${(right.sample_index ?? right.row) + 1}, a right one</button>`}
    ${compared && wrong
      ? html`<p class="soft"><del>only in the right one</del> <ins>only here</ins></p><${Difference} from=${right.response.text} to=${row.response.text} label="difference of response ${number}" />`
      : html`<${Response} value=${row.response} label="response ${number}" raw=${raw} />`}
  </article>`;
}
