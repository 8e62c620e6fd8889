// The boundary claims on each group and model, with their tests and meaning.
import { useData } from "../data.js";
import { html, shown } from "../lib.js";
import { Table } from "../table.js";
import { Change, Choice, Regime, Strip, Waiting } from "./evaluation_shared.js";

/** @typedef {import("./evaluation.js").Part} Part */

/** @param {Part} props */
export function ClaimsTab({ subject, route, models }) {
  const state = useData(subject, "claims", { models: route.query.models });
  const data = state.data;
  if (!data || data.state === "computing") return html`<${Waiting} state=${state} what="differences and claims" />`;
  if (!data.claims.length) return html`<p class="none">${models.length > 1 ? "nothing to compare" : "A claim compares a model with a baseline: here is one model. Give a second result to prorl view."}</p>`;
  const { query } = route;
  const rows = data.claims.filter(
    (/** @type {any} */ c) => (!query.regime || c.regime === query.regime) && (!query.kind || c.kind === query.kind) && (!query.of || c.checkpoint === query.of),
  );
  const last = `pass@${data.k}`;
  const ends = scale(data.claims, last);
  const open = data.claims.find((/** @type {any} */ c) => nameOf(c) === query.claim);
  /** @param {string} key */
  const several = (key) => [...new Set(data.claims.map((/** @type {any} */ c) => c[key]))].map((v) => [v, v]);
  return html`
    <${Waiting} state=${state} what="" />
    <ul class="said">${data.verdict.map((/** @type {string} */ l) => html`<li>${l}</li>`)}</ul>
    <p>${data.multiple}</p>
    <div class="filters">
      <${Choice} route=${route} name="regime" title="claim" values=${several("regime")} />
      <${Choice} route=${route} name="kind" title="groups" values=${several("kind")} />
      ${models.length > 2 && html`<${Choice} route=${route} name="of" title="model" values=${several("checkpoint")} />`}
    </div>
    ${open && html`<${Open} claim=${open} k=${last} meaning=${data.meaning[open.regime]} route=${route} />`}
    <div class="tight"><${Table}
      label="claims"
      rows=${rows}
      id=${nameOf}
      chosen=${query.claim}
      onOpen=${(/** @type {any} */ c) => route.go({ claim: nameOf(c) === query.claim ? null : nameOf(c) })}
      columns=${[
        { key: "group", title: "group", show: (/** @type {any} */ c) => html`<bdi>${c.name}</bdi> <span class="unit">${c.kind === "overall" ? "" : `${c.kind}, `}${shown(c.problems)} problems</span>` },
        ...(models.length > 2 ? [{ key: "checkpoint", title: "model" }] : []),
        { key: "regime", title: "claim", show: (/** @type {any} */ c) => html`<${Regime} name=${c.regime} />` },
        { key: "p_corrected", title: "corrected p", number: true, show: (/** @type {any} */ c) => p(c.p_corrected) },
        { key: "one", title: "pass@1", number: true, minor: true, value: (/** @type {any} */ c) => c.changes["pass@1"]?.value, show: (/** @type {any} */ c) => html`<${Change} of=${c.changes["pass@1"]} />` },
        { key: "last", title: last, number: true, value: (/** @type {any} */ c) => c.changes[last]?.value, show: (/** @type {any} */ c) => html`<${Change} of=${c.changes[last]} />` },
        { key: "strip", title: `${last}, drawn`, minor: true, value: (/** @type {any} */ c) => c.changes[last]?.value, show: (/** @type {any} */ c) => html`<${Strip} of=${c.changes[last]} ends=${ends} />` },
        { key: "reason", title: "decided by", minor: true, show: (/** @type {any} */ c) => html`<span class="reason">${c.reason}</span>` },
      ]}
      empty="no claim is left: take a filter away"
    /></div>
    <h2>What the claims mean</h2>
    <dl class="meaning">${Object.entries(data.meaning).map(([name, words]) => html`<dt><${Regime} name=${name} /></dt><dd>${words}</dd>`)}</dl>
    <p>${data.rule}</p>
    ${data.gains.length > 0 && html`<h2>Gain against the baseline's ${last}</h2><ul>${data.gains.map((/** @type {any} */ g) => html`<li>${g.label}: ${g.correlation}</li>`)}</ul>
      <p class="none">Part of a negative correlation is arithmetic: nothing rises above 1, and noise in the baseline enters the gain with a minus sign.</p>`}
  `;
}

/** @param {any} claim */
function nameOf(claim) {
  return `${claim.group}/${claim.checkpoint}`;
}

/** @param {{claim: any, k: string, meaning: string, route: import("../router.js").Route}} props */
function Open({ claim, k, meaning, route }) {
  const filter = { problem: null, tab: "problems", claim: null };
  const places = ["domain", "benchmark"].includes(claim.kind) ? { ...filter, [claim.kind]: claim.name } : claim.kind === "task" ? { ...filter, family: claim.name } : filter;
  return html`<section class="panel" aria-label="the claim that is open">
    <h2><${Regime} name=${claim.regime} /> ${claim.name}, ${claim.checkpoint}</h2>
    <p>${claim.reason}.</p><p>${meaning}</p>
    <dl>
      ${["pass@1", k, "reward", "length"].map((name) => claim.changes[name] && html`<dt>${name === "length" ? "tokens an answer" : name}</dt><dd>${before(claim.changes[name], name)} <${Change} of=${claim.changes[name]} digits=${name === "length" ? 1 : 3} /></dd>`)}
      ${claim.tests.map((/** @type {any} */ t) => html`<dt>${t.name}</dt><dd>p ${p(t.p)}, not corrected</dd>`)}
      <dt>all together</dt><dd>p ${p(claim.p)}, corrected ${p(claim.p_corrected)}</dd>
    </dl>
    <p><a href=${route.href(places)}>its problems</a> · <a href=${route.href({ tab: null, claim: null, group: claim.group })}>its curves</a> · <button class="quiet" onClick=${() => route.go({ claim: null })}>close</button></p>
  </section>`;
}

/** @param {any} c @param {string} name */
function before(c, name) {
  const digits = name === "length" ? 1 : 3;
  return `${c.before?.toFixed(digits) ?? "–"} → ${c.after?.toFixed(digits) ?? "–"},`;
}

/** @param {any[]} claims @param {string} metric @returns {[number, number]} */
function scale(claims, metric) {
  const known = claims.map((c) => c.changes[metric]).filter((c) => c && c.count > 0);
  return [Math.min(-0.02, ...known.map((c) => c.low)), Math.max(0.02, ...known.map((c) => c.high))];
}

/** @param {number | null} value */
function p(value) {
  if (value === null) return "–";
  return value < 0.001 ? "< 0.001" : value.toFixed(3);
}
