// The view of a run: its state, curves with the controller's decisions, changes around a step, and settings.
import { Chart } from "../chart.js";
import { exported, useData, useMany, useSubjects } from "../data.js";
import { html, shown, signed, useMemo } from "../lib.js";
import { Table } from "../table.js";
import { Name } from "../text.js";
import { Evaluated, State } from "./learned.js";
import { StepPanel, WIDTHS } from "./run_around.js";
import { Settings } from "./run_settings.js";
import { CALM, Timeline } from "./run_timeline.js";
import { AXES, inArms, over, seriesOf, stepAt, zoomOf } from "./run_lines.js";

/** @typedef {import("../router.js").Route} Route */
/** @typedef {import("./run_lines.js").ChartInfo} ChartInfo */
/** @typedef {{step: number, kind: string, label: string, reason: string, to?: number}} Decided */
/** @typedef {{bands: {kind: string, from: number, to: number, label: string}[], marks: {step: number, kind: string, label: string}[], list: Decided[]}} Decisions */

/** @param {{subject: string, route: Route}} props */
export function RunView({ subject, route }) {
  const head = useData(subject, "header");
  const charts = useData(subject, "charts");
  const decided = useData(subject, "decisions");
  const all = useSubjects().subjects;
  const others = all.filter((s) => s.kind === "run" && s.name !== subject);
  if (head.error) return html`<h1><${Name} value=${subject} /></h1><p class="error">${head.error}</p>`;
  if (!head.data || !charts.data || !decided.data) return html`<h1><${Name} value=${subject} /></h1><p class="none">reading the run…</p>`;
  const step = route.query.step ? Number(route.query.step) : null;
  const beside = (route.query.with ?? "").split(",").filter((name) => others.some((s) => s.name === name));
  const shownCharts = chosenCharts(charts.data.charts, route.query.curves);
  /** @param {number | null} at */
  const open = (at) => route.go({ step: at });
  return html`<div class="run ${step !== null ? "with-panel" : ""}">
    <div class="run-main">
      <${Head} head=${head.data} evaluations=${all.filter((s) => s.kind === "evaluation" && s.run === subject).map((s) => s.name)} />
      <${Falls} falls=${head.data.falls} last=${head.data.step} step=${step} open=${open} />
      <${Controls} route=${route} head=${head.data} catalogue=${charts.data} others=${others.map((s) => s.name)} beside=${beside} chosen=${shownCharts} />
      ${head.data.step === 0
        ? html`<p class="none">no step has been recorded yet</p>`
        : html`<${Timeline} decided=${decided.data} last=${head.data.step} step=${step} open=${open} />
            <${Curves} subject=${subject} beside=${beside} charts=${shownCharts} route=${route} head=${head.data} decided=${decided.data} step=${step} open=${open} />`}
      <details class="section" open=${decided.data.list.length <= FEW}>
        <summary><h2>Decisions (${shown(decided.data.list.length)})</h2></summary>
        <${Table}
          label="decisions"
          columns=${DECISION_COLUMNS}
          rows=${decided.data.list}
          id=${(/** @type {Decided} */ d) => `${d.step}-${d.kind}`}
          onOpen=${(/** @type {Decided} */ d) => open(d.step)}
          empty="nothing has been decided yet"
        />
      </details>
      <${Settings} subjects=${[subject, ...beside]} />
      <${Made} head=${head.data} />
    </div>
    ${step !== null && html`<${StepPanel} key=${step} subject=${subject} step=${step} width=${Number(route.query.width ?? WIDTHS[0])} widen=${(/** @type {number} */ width) => route.go({ width: width === WIDTHS[0] ? null : width })} decided=${decided.data} open=${open} zoom=${(/** @type {number} */ from, /** @type {number} */ to) => route.go({ from, to })} />`}
  </div>`;
}

const FEW = 30; // up to this many decisions, their table is open

/** @type {import("../table.js").Column[]} */
const DECISION_COLUMNS = [
  { key: "step", title: "step", number: true, show: (d) => (d.to ? `${shown(d.step)}–${shown(d.to)}` : shown(d.step)) },
  { key: "label", title: "decision" },
  { key: "reason", title: "why" },
];

/**
 * The summary: whether the run learned, the gain by domain, the controller's decisions, and the evaluations.
 * @param {{head: any, evaluations: string[]}} props
 */
function Head({ head, evaluations }) {
  const v = head.validation;
  const gain = head.gain;
  return html`<section class="headline" aria-label="did it learn">
      <h1><${Name} value=${head.name} /> <${State} of=${head} /></h1>
      ${head.reason && html`<p class="bad">${head.reason}</p>`}
      <div class="answer">
        ${gain && html`<p class="figure"><b class=${{ rose: "good", fell: "bad" }[/** @type {string} */ (head.verdict)] ?? ""}>${signed(gain.value, 2)}</b>${gain.low !== null && html` <span class="soft">[${signed(gain.low, 2)}, ${signed(gain.high, 2)}] at 95 %</span>`}</p>`}
        <p class="sentence">${head.sentence}</p>
        <p class="soft">${gain && gain.best_step !== gain.last && `The best validation was ${gain.best.toFixed(2)} at step ${shown(gain.best_step)}. `}${did(head.controlled)}</p>
        ${evaluations.map((name) => html`<p key=${name}>Evaluated: <${Evaluated} name=${name} /></p>`)}
      </div>
      <${Domains} of=${head.domains} />
    </section>
    <dl class="facts">
      <div><dt>step</dt><dd>${head.steps ? `${shown(head.step)} of ${shown(head.steps)}` : shown(head.step)}</dd></div>
      ${v && html`<div><dt>validation, step ${shown(v.step)}</dt><dd>${v.value.toFixed(3)}${v.low !== null && html` <span class="unit">[${v.low.toFixed(2)}, ${v.high.toFixed(2)}]</span>`}</dd></div>`}
      <div><dt>reward, last 20 steps</dt><dd>${head.reward === null ? "–" : head.reward.toFixed(3)}</dd></div>
      <div><dt>last reset</dt><dd>${head.last_reset === null ? "none" : `step ${shown(head.last_reset)}`}</dd></div>
      ${head.tokens !== null && html`<div><dt>tokens</dt><dd>${shown(head.tokens)}</dd></div>`}
      <div><dt>time in steps</dt><dd>${time(head.train_seconds)}</dd></div>
      ${head.eta_seconds !== null && html`<div><dt>left</dt><dd>${time(head.eta_seconds)}</dd></div>`}
    </dl>`;
}

/**
 * A sentence on the controller's decisions.
 * @param {{kind: string, count: number, last: number}[]} kinds
 */
function did(kinds) {
  if (!kinds.length) return "The controller has decided nothing yet.";
  return `The controller decided: ${kinds.map((k) => (k.count === 1 ? `${k.kind} at step ${shown(k.last)}` : `${k.kind} ${k.count} times, last at step ${shown(k.last)}`)).join("; ")}.`;
}

const ROW = 26; // height of a domain's row in pixels

/**
 * Each domain's reward before and after, on one axis from 0 to 1.
 * @param {{of: {of: string, steps: number, rows: {name: string, before: number, after: number}[]}}} props
 */
function Domains({ of }) {
  if (!of.rows.length) return null;
  return html`<figure class="domains">
    <figcaption><h3>Reward by domain</h3><span class="soft">${of.of === "validation_reward" ? "first and last validation" : `training, first and last ${of.steps} steps`}</span></figcaption>
    <table>
      <thead class="visually-hidden"><tr><th>domain</th><th>drawn from 0 to 1</th><th>before</th><th>after</th><th>change</th></tr></thead>
      <tbody>
        ${of.rows.map((r) => html`<tr>
          <th scope="row"><${Name} value=${r.name} /></th>
          <td class="drawn"><svg height=${ROW} width="100%" aria-hidden="true">
            <line class="axis" x1="0" x2="100%" y1=${ROW / 2} y2=${ROW / 2} />
            <line class="span" x1="${100 * r.before}%" x2="${100 * r.after}%" y1=${ROW / 2} y2=${ROW / 2} />
            <circle class="before" cx="${100 * r.before}%" cy=${ROW / 2} r="4" /><circle class="after" cx="${100 * r.after}%" cy=${ROW / 2} r="5" />
          </svg></td>
          <td class="number soft">${r.before.toFixed(2)} →</td><td class="number">${r.after.toFixed(2)}</td><td class="number">${signed(r.after - r.before, 2)}</td>
        </tr>`)}
      </tbody>
    </table>
  </figure>`;
}

/** @param {{head: any}} props */
function Made({ head }) {
  const made = [
    ["preset", head.preset],
    ["model", head.model],
    ["data", head.data],
    ["engine", head.engine],
    ["seed", head.seed],
    ["data's hash", head.identity.dataset?.slice(0, 12)],
    ["model's hash", head.identity.model?.slice(0, 12)],
    ["plug-ins", head.identity.parts?.map((/** @type {any} */ p) => p.name).join(", ")],
    ["last written", `${time(head.age_seconds)} ago`],
  ].filter(([, value]) => value !== null && value !== undefined && value !== "");
  return html`<h2>Made from</h2>
    <dl>${made.map(([key, value]) => html`<dt>${key}</dt><dd>${String(value)}</dd>`)}</dl>
    ${head.lineage.length > 0 && html`<p>Where its weights came from:</p><ol>${head.lineage.map((/** @type {string} */ leg) => html`<li>${leg}</li>`)}</ol>`}`;
}

/**
 * Links to the deepest falls of the reward, and to any other step.
 * @param {{falls: {step: number, change: number, z: number}[], last: number, step: number | null, open: (step: number | null) => void}} props
 */
function Falls({ falls, last, step, open }) {
  /** @param {Event} event */
  function asked(event) {
    event.preventDefault();
    const field = /** @type {HTMLInputElement} */ (/** @type {HTMLFormElement} */ (event.currentTarget).elements.namedItem("step"));
    if (field.value) open(Number(field.value));
  }
  return html`<form class="falls" onSubmit=${asked}>
    <span>${falls.length ? "The reward fell at" : "What changed around a step:"}</span>
    ${falls.map((f) => html`<button type="button" aria-pressed=${f.step === step} onClick=${() => open(f.step)} title="${shown(-f.z, 2)} standard errors; 20 steps before and after">step ${shown(f.step)} <span class="bad">${signed(f.change)}</span></button>`)}
    <label>${falls.length ? "or look around step" : "step"} <input name="step" type="number" min="1" max=${last} data-filter /></label>
    <button>look</button>
  </form>`;
}

/**
 * @param {{route: Route, head: any, catalogue: {charts: ChartInfo[], means: number[]}, others: string[], beside: string[], chosen: ChartInfo[]}} props
 */
function Controls({ route, head, catalogue, others, beside, chosen }) {
  const names = chosen.map((c) => c.name);
  const by = catalogue.charts.flatMap((c) => c.by);
  const sections = [...new Set(catalogue.charts.map((c) => c.section))];
  /** @param {string} name */
  const toggled = (name) => (names.includes(name) ? names.filter((n) => n !== name) : catalogue.charts.map((c) => c.name).filter((n) => n === name || names.includes(n)));
  /** @param {string} name */
  const other = (name) => (beside.includes(name) ? beside.filter((n) => n !== name) : [...beside, name]);
  const zoom = zoomOf(route.query);
  return html`<div class="filters">
    ${zoom && html`<button onClick=${() => route.go({ from: null, to: null })}>steps ${shown(zoom[0])} to ${shown(zoom[1])} ✕</button>`}
    <${Choice} label="x axis" value=${route.query.x ?? "step"} options=${Object.keys(AXES).filter((k) => k === "step" || head.axes[k].some((/** @type {number | null} */ v) => v))} set=${(/** @type {string} */ v) => route.go({ x: v === "step" ? null : v })} />
    <${Choice} label="split by" value=${route.query.by ?? "overall"} words=${{ overall: "nothing" }} options=${["overall", ...["domain", "task"].filter((b) => by.includes(b))]} set=${(/** @type {string} */ v) => route.go({ by: v === "overall" ? null : v, parts: null })} />
    <${Choice} label="smoothing" value=${route.query.mean ?? ""} words=${{ "": "automatic", 1: "none", ...Object.fromEntries(catalogue.means.slice(1).map((m) => [m, `mean of ${m} steps`])) }} options=${["", ...catalogue.means.map(String)]} set=${(/** @type {string} */ v) => route.go({ mean: v })} />
    ${!exported && head.validation && html`<label class="check"><input type="checkbox" checked=${route.query.forecast === "yes"} onChange=${() => route.go({ forecast: route.query.forecast === "yes" ? null : "yes" })} /> forecast of validation</label>`}
    ${(route.query.by === "task" || route.query.by === "domain") && html`<${Parts} route=${route} by=${route.query.by} />`}
    <details class="choose">
      <summary>curves: ${names.length} of ${catalogue.charts.length}</summary>
      ${sections.map(
        (section) => html`<fieldset>
          <legend>${section}</legend>
          ${catalogue.charts
            .filter((c) => c.section === section)
            .map((c) => html`<label class="check"><input type="checkbox" checked=${names.includes(c.name)} onChange=${() => route.go({ curves: toggled(c.name).join(",") })} /> ${c.title}</label>`)}
        </fieldset>`,
      )}
      ${route.query.curves && html`<button onClick=${() => route.go({ curves: null })}>the first ones again</button>`}
    </details>
    ${beside.length > 0 && html`<${Choice} label="seeds" value=${route.query.seeds ?? "together"} options=${["together", "apart"]} set=${(/** @type {string} */ v) => route.go({ seeds: v === "together" ? null : v })} />`}
    ${others.length > 0 &&
    html`<details class="choose">
      <summary>compare with: ${beside.join(", ") || "no other run"}</summary>
      <fieldset>
        <legend>runs laid over this one</legend>
        ${others.map((name) => html`<label class="check"><input type="checkbox" checked=${beside.includes(name)} onChange=${() => route.go({ with: other(name).join(",") })} /> ${name}</label>`)}
      </fieldset>
    </details>`}
  </div>`;
}

/**
 * Chooses the domains or tasks to draw in charts that are split by them.
 * @param {{route: Route, by: string}} props
 */
function Parts({ route, by }) {
  const [found] = useMany([route.subject], "curves", { chart: "reward_mean", by });
  const parts = /** @type {{name: string, size: string}[]} */ (found?.data?.parts ?? []);
  const drawn = /** @type {string[]} */ ((found?.data?.lines ?? []).map((/** @type {any} */ l) => l.name));
  const chosen = route.query.parts ? route.query.parts.split(",") : drawn;
  /** @param {string} name */
  const toggled = (name) => (chosen.includes(name) ? chosen.filter((n) => n !== name) : [...chosen, name]);
  return html`<details class="choose">
    <summary>${by}s: ${chosen.length} of ${parts.length}</summary>
    <fieldset>
      <legend>the largest first</legend>
      ${parts.map((t) => html`<label class="check"><input type="checkbox" checked=${chosen.includes(t.name)} onChange=${() => route.go({ parts: toggled(t.name).join(",") })} /> <${Name} value=${t.name} /> <span class="unit">${t.size}</span></label>`)}
    </fieldset>
  </details>`;
}

/**
 * @param {{label: string, value: string, options: string[], words?: Record<string, string>, set: (value: string) => void}} props
 */
function Choice({ label, value, options, words = {}, set }) {
  return html`<label>${label}
    <select value=${value} onChange=${(/** @type {Event} */ e) => set(/** @type {HTMLSelectElement} */ (e.currentTarget).value)}>
      ${options.map((o) => html`<option value=${o} selected=${o === value}>${words[o] ?? o}</option>`)}
    </select>
  </label>`;
}

/**
 * @param {ChartInfo[]} charts
 * @param {string | undefined} asked
 */
function chosenCharts(charts, asked) {
  const names = asked ? asked.split(",") : null;
  return charts.filter((c) => (names ? names.includes(c.name) : c.first));
}

/**
 * @param {{subject: string, beside: string[], charts: ChartInfo[], route: Route, head: any, decided: Decisions, step: number | null, open: (step: number | null) => void}} props
 */
function Curves({ subject, beside, charts, route, head, decided, step, open }) {
  const heads = useMany(beside, "header", {});
  const axis = route.query.x && Object.hasOwn(AXES, route.query.x) ? route.query.x : "step";
  const axes = [head.axes, ...heads.map((h) => h.data?.axes)];
  const scaled = useMemo(() => axes.map((a) => a && over(a, axis)), [axis, head, ...heads.map((h) => h.data)]);
  const at = scaled[0];
  const zoom = zoomOf(route.query);
  const [first, last] = zoom ?? [0, head.step];
  const bands = decided.bands.filter((b) => b.kind === "penalty" && b.to > first && b.from <= last).map((b) => ({ from: at(Math.max(b.from, first)), to: at(Math.min(b.to, last)), label: b.label }));
  const marks = decided.marks.filter((m) => m.step >= first && m.step <= last).map((m) => ({ x: at(m.step), label: `step ${m.step}: ${m.label}`, id: String(m.step), calm: CALM.includes(m.kind) }));
  const xRange = [at(first), at(last)];
  const arms = useArms([subject, ...beside], route.query.seeds === "apart");
  const sections = [...new Set(charts.map((c) => c.section))];
  return html`${sections.map((section) => html`<h2 class="chapter">${section}</h2><div class="charts">
      ${charts.filter((c) => c.section === section).map(
        (chart) => html`<${Curve}
          key=${chart.name}
          chart=${chart}
          subjects=${[subject, ...beside]}
          by=${route.query.by ?? "overall"}
          mean=${route.query.mean ?? ""}
          parts=${route.query.parts ?? ""}
          scaled=${scaled}
          arms=${arms}
          bands=${bands}
          marks=${marks}
          xLabel=${at.label}
          xRange=${xRange}
          zoom=${zoom}
          ahead=${route.query.forecast === "yes" && chart.name === "validation_reward"}
          step=${step}
          open=${open}
          back=${(/** @type {number} */ x) => stepAt(head.axes, axis, x)}
        />`,
      )}
    </div>`)}
    <p class="soft">
      Shaded: length penalty on. Triangles: what was decided; a click or Enter tells why. A click elsewhere, or Enter after the arrow keys, looks around that step.
      ${beside.length > 0 && ` Shades and triangles are those of ${subject}.`}
      ${arms && " Runs that differ in nothing but the seed are one line, their mean, in a band from the least to the greatest."}
      ${head.step > 2 * 400 && " Of a line with more steps than the chart has room for, each pixel shows the least and the greatest value, so that no peak is lost."}
    </p>`;
}

/**
 * @param {{
 *   chart: ChartInfo, subjects: string[], by: string, mean: string, parts: string, scaled: any[], arms: string[] | null, bands: any[], marks: any[], xLabel: string, xRange: [number, number],
 *   zoom: [number, number] | null, ahead: boolean, step: number | null, open: (step: number | null) => void, back: (x: number) => number,
 * }} props `ahead`: with a forecast
 */
function Curve({ chart, subjects, by, mean, parts, scaled, arms, bands, marks, xLabel, xRange, zoom, ahead, step, open, back }) {
  const divided = chart.by.includes(by) ? by : "overall";
  const found = useMany(subjects, "curves", {
    chart: chart.name,
    by: divided,
    mean: chart.smooth ? mean : "",
    parts: divided === "overall" ? "" : parts,
    ...(zoom && !exported ? { from: String(zoom[0]), to: String(zoom[1]) } : {}),
  });
  const foretelling = useData(subjects[0], ahead && divided === "overall" ? "forecast" : "");
  const series = useMemo(() => {
    const each = seriesOf(found, scaled, zoom);
    const lines = arms && each.length === arms.length && found.every((f) => f.data?.lines.length === 1) ? inArms(each, arms) : each;
    return [...lines, ...foretold(foretelling.data, scaled[0])];
  }, [found, scaled, arms, foretelling.data, String(zoom)]);
  const own = found[0];
  const width = own?.data?.mean ?? 1;
  const about = [chart.about, width > 1 ? `mean of ${width} steps, single steps faint` : ""].filter(Boolean).join("; ");
  return html`<div>
    <${Chart}
      title=${chart.title}
      unit=${chart.unit}
      series=${series}
      bands=${bands}
      marks=${marks}
      onMark=${(/** @type {string} */ id) => open(Number(id))}
      chosen=${step === null ? undefined : String(step)}
      xLabel=${xLabel}
      xRange=${xRange}
      at=${step === null ? null : scaled[0](step)}
      onAt=${(/** @type {number} */ x) => open(back(x))}
      least=${chart.least}
    />
    ${about && html`<p class="soft">${about}</p>`}
    ${ahead && html`<p class="soft">${foretelling.error || foretelling.data?.told || "fitting curves to the validations…"}</p>`}
    ${own?.data?.unread > 0 && html`<p class="soft">${shown(own.data.unread)} files of rollouts are still to be read</p>`}
    ${found.map((f) => f.error && html`<p class="soft">${f.name}: ${f.error}</p>`)}
  </div>`;
}

/**
 * Return each run's settings without the seed, or null while they load or if all differ.
 * @param {string[]} subjects
 * @param {boolean} apart
 * @returns {string[] | null}
 */
function useArms(subjects, apart) {
  const found = useMany(subjects.length > 1 && !apart ? subjects : [], "config", {});
  return useMemo(() => {
    if (found.length < subjects.length || found.some((f) => !f.data)) return null;
    const arms = found.map((f) => JSON.stringify(f.data.settings.filter((/** @type {any} */ s) => s.key !== "seed").map((/** @type {any} */ s) => [s.key, s.value])));
    return new Set(arms).size < arms.length ? arms : null;
  }, [subjects.length, apart, ...found.map((f) => f.data)]);
}

/**
 * Return the forecast as a series, or [] if there is none.
 * @param {{points: [number, number, number, number][]} | null} ahead
 * @param {import("./run_lines.js").Scaled} at
 */
function foretold(ahead, at) {
  if (!ahead || !ahead.points.length) return [];
  /** @param {number} place */
  const column = (place) => ahead.points.map((p) => /** @type {[number, number]} */ ([at(p[0]), p[place]]));
  return [{ name: "forecast", points: column(1), low: column(2), high: column(3), dashed: true, colour: 7 }];
}

/**
 * Format a duration in seconds, minutes, hours or days.
 * @param {number} seconds
 */
function time(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${shown(seconds / 3600, 2)} h`;
  return `${shown(seconds / 86400, 2)} days`;
}
