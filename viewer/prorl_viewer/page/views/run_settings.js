// The settings that differ between a run and its preset, or between several runs.
import { useMany } from "../data.js";
import { html } from "../lib.js";
import { Table } from "../table.js";

/** @typedef {{preset: string, known: boolean, settings: {key: string, value: any, preset: any}[]}} Config */

/** @param {{subjects: string[]}} props */
export function Settings({ subjects }) {
  const found = useMany(subjects, "config", {});
  const error = found.find((f) => f.error);
  if (error) return html`<h2>Settings</h2><p class="error">${error.name}: ${error.error}</p>`;
  if (found.length < subjects.length) return null;
  const several = found.length > 1;
  const configs = found.map((f) => /** @type {Config} */ (f.data));
  const rows = differing(configs);
  const presets = [...new Set(configs.map((c) => c.preset))];
  const columns = [
    { key: "key", title: "setting" },
    ...found.map((f, i) => ({ key: `run${i}`, title: f.name, value: (/** @type {any} */ r) => said(r.values[i]) })),
    ...presets.map((preset) => {
      const i = configs.findIndex((c) => c.preset === preset);
      return { key: `preset${i}`, title: `preset ${preset}`, value: (/** @type {any} */ r) => (configs[i].known ? said(r.presets[i]) : "not known") };
    }),
  ];
  return html`<h2>${several ? "Settings that differ" : `Settings other than those of preset ${presets[0]}`}</h2>
    <${Table} label="settings" columns=${columns} rows=${rows} id=${(/** @type {any} */ r) => r.key} empty=${several ? "none: the same config" : "none: the preset as it is"} />`;
}

/**
 * Return the settings that differ between configs, or between a single config and its preset.
 * @param {Config[]} configs
 */
export function differing(configs) {
  if (!configs.length) return [];
  const by = configs.map((c) => new Map(c.settings.map((s) => [s.key, s])));
  const keys = [...new Set(configs.flatMap((c) => c.settings.map((s) => s.key)))];
  return keys
    .map((key) => ({ key, values: by.map((m) => m.get(key)?.value), presets: by.map((m) => m.get(key)?.preset) }))
    .filter((r) => (configs.length > 1 ? new Set(r.values.map(said)).size > 1 : configs[0].known && said(r.values[0]) !== said(r.presets[0])));
}

/**
 * A setting's value in a table.
 * @param {any} value
 */
export function said(value) {
  if (value === null || value === undefined) return "none";
  return typeof value === "string" ? value : JSON.stringify(value);
}
