// Scores a recorded rollout or answer again with the current verifier, and explains the verdict.
import { act, exported } from "../data.js";
import { Findings } from "../findings.js";
import { html, shown, useEffect, useRef, useState } from "../lib.js";
import { Text } from "../text.js";
import { Reward } from "./rollout_list.js";

/**
 * The button and the new verdict.
 * @param {{subject: string, query: import("../data.js").Query}} props `query` names the answer to the action `check`
 */
export function CheckAgain({ subject, query }) {
  const [state, set] = useState({ busy: false, error: "", found: /** @type {any} */ (null) });
  const alive = useRef(true);
  useEffect(() => () => {
    alive.current = false;
  }, []);
  async function check() {
    set({ busy: true, error: "", found: null });
    try {
      const found = await act(subject, "check", query);
      if (alive.current) set({ busy: false, error: "", found });
    } catch (error) {
      if (alive.current) set({ busy: false, error: error instanceof Error ? error.message : String(error), found: null });
    }
  }
  const { found } = state;
  return html`${exported
      ? html`<p class="none">Checking again needs prorl view: this is a file.</p>`
      : html`<p><button onClick=${check} disabled=${state.busy}>check again and explain</button> <span role="status">${state.busy ? "the verifier is at work" : ""}</span></p>`}
    ${state.error && html`<p class="error" role="alert">${state.error}</p>`}
    ${found && html`<${Again} found=${found} />`}`;
}

/** @param {{found: any}} props */
function Again({ found }) {
  const { now, same } = found;
  const words =
    now.status === "infra_error"
      ? "The verifier could not decide now: this says nothing about the answer."
      : same === null
        ? "There was no reward to compare with."
        : same
          ? "The same reward as recorded."
          : "Another reward than recorded.";
  return html`<div class="again" role="status">
    <p class=${same ? "good" : "warn"}><strong>${words}</strong></p>
    <dl>
      <dt>now</dt><dd><${Reward} value=${now.reward} />, ${now.status}, ${shown(now.seconds)} s</dd>
      <dt>reason</dt><dd><${Text} value=${now.reason} inline=${true} /></dd>
      ${now.extracted && html`<dt>extracted</dt><dd><${Text} value=${now.extracted} inline=${true} /></dd>`}
    </dl>
    <${Findings} findings=${now.findings} />
  </div>`;
}
