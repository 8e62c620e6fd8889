// Which problems a model gained, lost and kept against the baseline.
import { useData } from "../data.js";
import { html, shown, signed } from "../lib.js";
import { Table } from "../table.js";
import { Text } from "../text.js";
import { Share, Waiting } from "./evaluation_shared.js";

/** @typedef {import("./evaluation.js").Part} Part */

/** @param {Part & {matrix: import("./evaluation_problems.js").Matrix}} props */
export function SolvableTab({ subject, route, models, every, matrix }) {
  const state = useData(subject, "solvable", { models: route.query.models });
  const data = state.data;
  if (models.length < 2) return html`<p class="none">What was gained or lost takes a model and a baseline: here is one model.</p>`;
  if (!data || data.state === "computing") return html`<${Waiting} state=${state} what="what was gained and lost" />`;
  const found = data.changes.find((/** @type {any} */ c) => c.label === route.query.of) ?? data.changes[data.changes.length - 1];
  const base = every.find((m) => m.label === data.baseline);
  const model = every.find((m) => m.label === found.label);
  const pair = [base, model].map((m) => m?.key ?? "").join(",");
  /** @param {string} set */
  const problems = (set) => route.href({ tab: "problems", models: pair, set });
  return html`
    ${data.warnings.map((/** @type {string} */ l) => html`<p class="warn">${l}</p>`)}
    <h2>Solved at least once, against ${data.baseline}, of ${shown(data.problems)} problems</h2>
    <${Table}
      label="solvable sets by model"
      rows=${data.changes}
      id=${(/** @type {any} */ c) => c.label}
      chosen=${found.label}
      onOpen=${(/** @type {any} */ c) => route.go({ of: c.label })}
      columns=${[
        { key: "label", title: "model" },
        { key: "kept", title: "kept", number: true, minor: true },
        { key: "gained", title: "gained", number: true, value: (/** @type {any} */ c) => c.gained.length, show: (/** @type {any} */ c) => html`<span class="good">${signed(c.gained.length, 0)}</span> <span class="unit">(${c.gained_by_luck.toFixed(1)} by luck)</span>` },
        { key: "gained_shown", title: "shown", number: true, value: (/** @type {any} */ c) => c.gained_shown.length },
        { key: "lost", title: "lost", number: true, value: (/** @type {any} */ c) => c.lost.length, show: (/** @type {any} */ c) => html`<span class="bad">${signed(-c.lost.length, 0)}</span> <span class="unit">(${c.lost_by_luck.toFixed(1)} by luck)</span>` },
        { key: "lost_shown", title: "shown", number: true, value: (/** @type {any} */ c) => c.lost_shown.length },
        { key: "never", title: "solved by neither", number: true, minor: true },
        { key: "unjudged", title: "no verdict", number: true, minor: true, value: (/** @type {any} */ c) => c.unjudged.length },
      ]}
    />
    <p class="none">Gained: no success before, at least one after; lost: the reverse. A problem of rate 1/n is missed in a third of the cases, so beside each count stands how many one expects if no rate had changed (by luck). Shown: those that Fisher's exact test tells apart at a false discovery rate of ${100 * found.fdr}%.</p>
    <h2>${found.label}</h2>
    <p><a href=${problems("gained")}>gained ${found.gained.length}</a> · <a href=${problems("lost")}>lost ${found.lost.length}</a> · <a href=${problems("kept")}>kept ${found.kept}</a> · <a href=${problems("never")}>solved by neither ${found.never}</a></p>
    <div class="two">
      <${Set} title="gained" ids=${found.gained} sure=${found.gained_shown} matrix=${matrix} pair=${pair} route=${route} />
      <${Set} title="lost" ids=${found.lost} sure=${found.lost_shown} matrix=${matrix} pair=${pair} route=${route} />
    </div>
  `;
}

/** @param {{title: string, ids: string[], sure: string[], matrix: import("./evaluation_problems.js").Matrix, pair: string, route: import("../router.js").Route}} props */
function Set({ title, ids, sure, matrix, pair, route }) {
  const places = pair.split(",").map((key) => matrix.keys.indexOf(key));
  const byId = new Map(matrix.rows.map((row) => [row.id, row]));
  const rows = ids.map((id) => ({ id, shown: sure.includes(id), row: byId.get(id) }));
  return html`<section class="tight"><h3>${title}, ${ids.length}</h3>
    <${Table}
      label="problems ${title}"
      rows=${rows}
      id=${(/** @type {any} */ r) => r.id}
      onOpen=${(/** @type {any} */ r) => route.go({ problem: r.id, models: pair })}
      columns=${[
        { key: "id", title: "problem", show: (/** @type {any} */ r) => html`<bdi>${r.id}</bdi>` },
        { key: "before", title: "before", number: true, value: (/** @type {any} */ r) => r.row?.cells[places[0]]?.[0], show: (/** @type {any} */ r) => html`<${Share} cell=${r.row?.cells[places[0]] ?? null} />` },
        { key: "after", title: "after", number: true, value: (/** @type {any} */ r) => r.row?.cells[places[1]]?.[0], show: (/** @type {any} */ r) => html`<${Share} cell=${r.row?.cells[places[1]] ?? null} />` },
        { key: "shown", title: "shown", minor: true, value: (/** @type {any} */ r) => Number(!r.shown), show: (/** @type {any} */ r) => (r.shown ? "yes" : "") },
        { key: "prompt", title: "prompt", wide: true, minor: true, show: (/** @type {any} */ r) => html`<${Text} value=${r.row?.prompt} inline />` },
      ]}
      empty="none"
    /></section>`;
}
