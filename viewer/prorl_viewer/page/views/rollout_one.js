// One response in full: its text by tokens, its verdict with an explanation, and actions.
import { get, useData } from "../data.js";
import { html, shown, useEffect, useRef, useState } from "../lib.js";
import { Response as Rendered, useRaw } from "../markdown.js";
import { answerOf, Name, Reference, Text } from "../text.js";
import { CheckAgain } from "./check_again.js";
import { Reward } from "./rollout_list.js";
import { COLOURS, TokenText } from "./rollout_tokens.js";

/** @typedef {import("../router.js").Route} Route */
/** @typedef {import("../data.js").Private} Private */

const LACKS = {
  sampler: "the rollout file has no log-probs of the sampler for this response",
  trainer: "the rollout file has no log-probs of the trainer here: they are there for responses that the step trained on",
  gap: "there is no gap to show without the trainer's log-probs, which are there for responses that the step trained on",
  advantage: "the step did not train on this response: it has no advantage",
};

/** @param {{subject: string, at: string, route: Route, close: () => void}} props */
export function One({ subject, at, route, close }) {
  const [step = "", row = ""] = at.split(".");
  const { data, error } = useData(subject, "rollout", { step, row });
  const { raw, button } = useRaw();
  const head = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    // on a narrow page the list is now hidden, so its row has lost the focus
    if (data !== null && document.activeElement === document.body) head.current?.focus();
  }, [data !== null]);
  if (error) return html`<div class="rollout-head"><button onClick=${close}>close</button></div><p class="error" role="alert">${error}</p>`;
  if (data === null) return html`<p class="none">reading</p>`;
  const place = data.group.indexOf(data.row);
  /** @param {number} number */
  const sibling = (number) => route.href({ at: `${data.step}.${number}` });
  return html`<div class="rollout-head" ref=${head} tabindex="-1">
      <h2>Step ${data.step}, <${Name} value=${data.sample_id} />, response ${place + 1} of ${data.group.length}</h2>
      <span class="buttons">
        ${place > 0 && html`<a href=${sibling(data.group[place - 1])}>previous of the group</a>`}
        ${place + 1 < data.group.length && html`<a href=${sibling(data.group[place + 1])}>next of the group</a>`}
        <a href=${route.href({ at: null, group: data.step, sample: data.sample_id })}>group side by side</a>
        <a href=${route.href({ at: null, prompt: data.sample_id })}>prompt over the steps</a>
        <button onClick=${close}>close</button>
      </span>
    </div>
    <${Facts} data=${data} />
    <${Messages} prompt=${data.prompt} raw=${raw} />
    <${Turns} turns=${data.turns} raw=${raw} />
    <${Response} subject=${subject} data=${data} route=${route} raw=${raw} button=${button} />
    <${Verdict} subject=${subject} data=${data} />
    <${TestCase} subject=${subject} step=${step} row=${row} />`;
}

/** @param {{data: any}} props */
function Facts({ data }) {
  const policy = data.policy_first === data.policy_last ? data.policy_last : `${data.policy_first} to ${data.policy_last}`;
  const answer = answerOf(data.reference?.text ?? "");
  /** @type {[string, unknown][]} */
  const facts = [
    ["reward", html`<${Reward} value=${data.reward} />${data.shaped_reward !== null && data.shaped_reward !== data.reward && html` (shaped ${shown(data.shaped_reward)})`}`],
    ...(data.extracted ? [/** @type {[string, unknown]} */ (["extracted", html`<${Text} value=${data.extracted} inline=${true} />`])] : []),
    ...(answer ? [/** @type {[string, unknown]} */ (["reference answer", html`<bdi class="text inline">${answer}</bdi>`])] : []),
    ["advantage", shown(data.advantage)],
    ["trained on", data.kept ? "yes" : data.trained_in !== null ? html`in step ${data.trained_in}` : "no"],
    ["tokens", `${shown(data.tokens)}${data.finish_reason === "length" ? ", cut by the limit" : ""}`],
    ["finish", html`<${Name} value=${data.finish_reason} />`],
    ...(data.ended ? [/** @type {[string, unknown]} */ (["conversation ended by", html`<${Name} value=${data.ended} />`])] : []),
    ["policy of step", data.policy_last === null ? "–" : policy],
    ["domain, task", html`<${Name} value=${[data.domain, data.task].filter(Boolean).join(", ")} />`],
    ["verifier", html`<${Name} value=${data.verifier} />`],
  ];
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/**
 * The chat messages of a prompt, or why there are none.
 * @param {{prompt: any, raw: boolean}} props
 */
export function Messages({ prompt, raw }) {
  if (!prompt) return "";
  if (prompt.missing) return html`<h3>Prompt</h3><p class="none">${prompt.missing}</p>`;
  return html`<details open><summary><h3>Prompt</h3> <span class="unit">from ${prompt.from}</span></summary>
    ${prompt.messages.map((/** @type {any} */ m) => html`<p class="role">${m.role}</p><${Rendered} value=${m.content} label="prompt, ${m.role}" raw=${raw} />`)}
  </details>`;
}

/**
 * The turns of a conversation with an environment before its last response.
 * @param {{turns: any[], raw: boolean}} props
 */
export function Turns({ turns, raw }) {
  if (turns.length < 2) return "";
  return html`<details open><summary><h3>Earlier turns</h3></summary>
    ${turns.slice(0, -1).map(({ role, content }) => {
      const own = role === "assistant";
      return html`<div class=${own ? "" : "given"}><p class="role">${role}${own ? "" : ", from the environment"}</p><${Rendered} value=${content} label="turn, ${role}" raw=${raw} /></div>`;
    })}
  </details>`;
}

/** @param {{subject: string, data: any, route: Route, raw: boolean, button: unknown}} props `button`: switches `raw` */
function Response({ subject, data, route, raw, button }) {
  const by = route.query.colour ?? "";
  const coloured = Object.hasOwn(COLOURS, by);
  const { data: tokens, error } = useData(subject, coloured ? "tokens" : "", coloured ? { step: data.step, row: data.row } : {});
  const known = coloured && tokens !== null && !error;
  const key = /** @type {keyof typeof COLOURS} */ (by);
  const lacks = known && (tokens.why || (key === "advantage" ? tokens.advantage === null : !tokens[key]) && LACKS[key]);
  return html`<div class="rollout-head"><h3>Response</h3> ${button}
      <label>colour tokens by
        <select value=${by} onChange=${(/** @type {Event} */ e) => route.go({ colour: /** @type {HTMLSelectElement} */ (e.target).value }, true)}>
          <option value="">nothing</option>
          ${Object.entries(COLOURS).map(([name, { title }]) => html`<option value=${name}>${title}</option>`)}
        </select></label>
    </div>
    ${coloured && error && html`<p class="error">${error}</p>`}
    ${lacks && html`<p class="none">${lacks}</p>`}
    ${known && !lacks && data.response?.text !== undefined
      ? html`<${TokenText} tokens=${tokens} response=${data.response.text} by=${key} />`
      : html`<${Rendered} value=${data.response} label="response" raw=${raw} />`}`;
}

/**
 * The recorded verdict, and on request the current verifier's.
 * @param {{subject: string, data: any}} props
 */
function Verdict({ subject, data }) {
  return html`<h3>Verdict</h3>
    <dl>
      <dt>recorded</dt><dd><${Reward} value=${data.reward} />, <${Name} value=${data.status} /></dd>
      <dt>reason</dt><dd><${Text} value=${data.reason} inline=${true} /></dd>
      <dt>checked against</dt><dd><${Reference} value=${data.reference} /></dd>
      ${data.isolation && html`<dt>checked in</dt><dd><${Name} value=${data.isolation} /></dd>`}
      ${data.metrics && html`<dt>reported</dt><dd><details><summary>metrics</summary><${Text} value=${data.metrics} label="metrics" /></details></dd>`}
    </dl>
    <${CheckAgain} subject=${subject} query=${{ step: data.step, row: data.row }} />`;
}

/** @param {{subject: string, step: string, row: string}} props */
function TestCase({ subject, step, row }) {
  const [state, set] = useState({ said: "", line: /** @type {Private | null} */ (null) });
  async function copy() {
    try {
      const { line } = await get(subject, "testcase", { step, row });
      if (line.text === undefined) return set({ said: "texts are left out of this page", line: null });
      if (line.length > line.text.length) return set({ said: `too long to copy from here (${line.length.toLocaleString("en")} characters)`, line: null });
      try {
        await navigator.clipboard.writeText(line.text);
        return set({ said: "copied: a line for prorl verify file", line: null });
      } catch {
        return set({ said: "the browser does not let the page copy; here is the line", line });
      }
    } catch (error) {
      return set({ said: error instanceof Error ? error.message : String(error), line: null });
    }
  }
  return html`<p><button onClick=${copy}>copy as a test case</button> <span role="status">${state.said}</span></p>
    ${state.line && html`<${Text} value=${state.line} label="test case" />`}`;
}
