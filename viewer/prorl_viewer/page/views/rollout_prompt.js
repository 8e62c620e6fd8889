// One prompt over the steps: its pass rates, response lengths and responses.
import { Chart } from "../chart.js";
import { useData } from "../data.js";
import { html, shown } from "../lib.js";
import { Table } from "../table.js";
import { Name, Text } from "../text.js";
import { Reward, idOf } from "./rollout_list.js";
import { Messages } from "./rollout_one.js";

const DOTS = 40; // up to this many steps, each is drawn as a dot
const COLUMNS = [
  { key: "step", title: "step", number: true },
  { key: "sample_index", title: "response", number: true, show: (/** @type {any} */ row) => (row.sample_index ?? 0) + 1 },
  { key: "reward", title: "reward", number: true, show: (/** @type {any} */ row) => html`<${Reward} value=${row.reward} />` },
  { key: "tokens", title: "tokens", number: true },
  { key: "head", title: "response", value: () => "", wide: true, show: (/** @type {any} */ row) => html`<${Text} value=${row.head} inline=${true} />` },
];

/** @param {{subject: string, sample: string, route: import("../router.js").Route, close: () => void}} props */
export function Prompt({ subject, sample, route, close }) {
  const { data, error } = useData(subject, "prompt", { sample });
  if (error) return html`<div class="rollout-head"><button onClick=${close}>close</button></div><p class="error" role="alert">${error}</p>`;
  if (data === null) return html`<p class="none">reading</p>`;
  /** @param {(step: any) => number | null} value */
  const points = (value) => data.steps.map((/** @type {any} */ s) => /** @type {[number, number | null]} */ ([s.step, value(s)]));
  const dots = data.steps.length <= DOTS;
  const rate = { name: "pass rate", points: points((s) => (s.scored ? s.passed / s.scored : null)), dots };
  const mean = { name: "mean reward", points: points((s) => s.mean_reward), dashed: true, dots };
  const tokens = { name: "mean tokens", points: points((s) => s.mean_tokens), colour: 2, dots };
  /** @param {number} step */
  const group = (step) => route.go({ prompt: null, group: step, sample });
  return html`<div class="rollout-head">
      <h2><${Name} value=${sample} /> over ${data.steps.length} ${data.steps.length === 1 ? "step" : "steps"}</h2>
      <span class="buttons"><button onClick=${close}>close</button></span>
    </div>
    ${data.reading && html`<p class="note">so far: ${shown(data.files_read)} of ${shown(data.files)} step files read</p>`}
    <${Messages} prompt=${data.prompt} raw=${false} />
    <div class="charts">
      <${Chart} title="Passed" series=${[rate, mean]} onAt=${group} least=${[0, 1]} />
      <${Chart} title="Length" unit="tokens" series=${[tokens]} onAt=${group} least=${[0, 0]} />
    </div>
    <p class="none">A click on a step, or Enter, opens its responses side by side.</p>
    <${Table} label="responses to ${sample}" columns=${COLUMNS} rows=${data.rows} id=${idOf}
      onOpen=${(/** @type {any} */ row) => route.go({ prompt: null, at: idOf(row) })} />
    ${data.total > data.rows.length && html`<p class="none">the newest ${shown(data.rows.length)} of ${shown(data.total)}</p>`}`;
}
