// The rollouts of a run: filters and a list, beside one rollout, its group, or its prompt over the steps.
import { html, useKey } from "../lib.js";
import { Name } from "../text.js";
import { Filters } from "./rollout_filters.js";
import { Group } from "./rollout_group.js";
import { List, useRows } from "./rollout_list.js";
import { One } from "./rollout_one.js";
import { Prompt } from "./rollout_prompt.js";

/** @typedef {import("../router.js").Route} Route */

const FILTERS = ["q", "step", "domain", "task", "verifier", "reward", "tokens", "advantage", "status", "finish_reason", "kept", "sample_id"];
const CLOSED = { at: null, group: null, prompt: null, sample: null };

/** @param {{subject: string, route: Route}} props */
export function RolloutsView({ subject, route }) {
  const { query, go } = route;
  const prompts = query.list !== "responses";
  const keys = [...FILTERS, "order", ...(prompts ? [] : ["sort"])];
  const rows = useRows(subject, prompts ? "groups" : "rollouts", Object.fromEntries(keys.filter((key) => query[key]).map((key) => [key, query[key]])));
  const open = Boolean(query.at || query.group || query.prompt);
  const ofGroup = query.group ? `${query.group}.${query.sample}` : "";
  const chosen = prompts ? ofGroup : (query.at ?? "");

  useKey((event) => {
    if (event.key === "Escape" && open) {
      go(CLOSED);
      requestAnimationFrame(() => /** @type {HTMLElement | null} */ (document.querySelector("tr.chosen, .rollout-rows tr[tabindex]"))?.focus());
    }
    if (chosen && (event.key === "j" || event.key === "k")) {
      event.preventDefault();
      rows.beside(rows.placeOf(chosen), event.key === "j" ? 1 : -1).then((id) => id && go(prompts ? { group: id.slice(0, id.indexOf(".")), sample: id.slice(id.indexOf(".") + 1) } : { at: id }, true));
    }
  });

  return html`<h1 class=${open ? "visually-hidden" : ""}>Rollouts of <${Name} value=${subject} /></h1>
    <div class="rollouts ${open ? "open" : ""} ${query.group && !query.at ? "wide" : ""}">
      <section class="rollout-list" aria-label="rollouts">
        <div class="filters" role="group" aria-label="a row is">
          ${[["", "prompts"], ["responses", "responses"]].map(([list, title]) => html`<button class="pick" aria-pressed=${(query.list ?? "") === list} onClick=${() => go({ list: list || null, sort: null, order: null })}>${title}</button>`)}
        </div>
        <${Filters} names=${FILTERS} query=${query} values=${rows.about.values ?? {}} go=${go} />
        <${List} rows=${rows} chosen=${chosen} query=${query} go=${go} narrow=${open} prompts=${prompts} />
      </section>
      ${open &&
      html`<section class="rollout-open" aria-label="chosen rollout">
        ${query.at
          ? html`<${One} key=${query.at} subject=${subject} at=${query.at} route=${route} close=${() => go(CLOSED)} />`
          : query.group
            ? html`<${Group} subject=${subject} step=${query.group} sample=${query.sample ?? ""} route=${route} close=${() => go(CLOSED)} />`
            : html`<${Prompt} key=${query.prompt} subject=${subject} sample=${query.prompt} route=${route} close=${() => go(CLOSED)} />`}
      </section>`}
    </div>`;
}
