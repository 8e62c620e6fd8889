// All responses to one prompt in one step, side by side.
import { useData } from "../data.js";
import { html, shown } from "../lib.js";
import { Name, Text } from "../text.js";
import { Reward } from "./rollout_list.js";
import { Messages } from "./rollout_one.js";

/** @param {{subject: string, step: string, sample: string, route: import("../router.js").Route, close: () => void}} props */
export function Group({ subject, step, sample, route, close }) {
  const { data, error } = useData(subject, "group", { step, sample });
  if (error) return html`<div class="rollout-head"><button onClick=${close}>close</button></div><p class="error" role="alert">${error}</p>`;
  if (data === null) return html`<p class="none">reading</p>`;
  const at = data.steps.indexOf(data.step);
  /** @param {number} to */
  const other = (to) => route.href({ group: data.steps[to] });
  return html`<div class="rollout-head">
      <h2>Step ${data.step}, <${Name} value=${sample} />: ${data.passed} of ${data.scored} passed</h2>
      <span class="buttons">
        ${at > 0 && html`<a href=${other(at - 1)}>step ${data.steps[at - 1]}</a>`}
        ${at + 1 < data.steps.length && html`<a href=${other(at + 1)}>step ${data.steps[at + 1]}</a>`}
        <a href=${route.href({ group: null, sample: null, prompt: sample })}>prompt over the steps</a>
        <button onClick=${close}>close</button>
      </span>
    </div>
    <p class="none">mean reward ${shown(data.mean_reward)}, mean tokens ${shown(data.mean_tokens)}, cut by the limit ${data.truncated}, trained on ${data.kept} of ${data.responses}</p>
    <${Messages} prompt=${data.prompt} />
    <div class="group">
      ${data.rows.map((/** @type {any} */ row) => html`<article class="card" key=${row.row}>
        <h3><a href=${route.href({ group: null, sample: null, at: `${row.step}.${row.row}` })}>response ${(row.sample_index ?? row.row) + 1}</a></h3>
        <p class="none"><${Reward} value=${row.reward} /> reward, ${row.advantage === null ? "not trained on" : `${shown(row.advantage)} advantage`}, ${shown(row.tokens)} tokens, <${Name} value=${row.finish_reason} />, <${Name} value=${row.status} /></p>
        <p class="none"><${Text} value=${row.reason} inline=${true} />${row.extracted && html` · extracted <${Text} value=${row.extracted} inline=${true} />`}</p>
        <${Text} value=${row.response} label="response ${(row.sample_index ?? row.row) + 1}" />
      </article>`)}
    </div>`;
}
