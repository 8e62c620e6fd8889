// The run.
import { html } from "../lib.js";

/** @param {{subject: string, route: import("../router.js").Route}} props */
export function RunView({ subject }) {
  return html`<h1>${subject}</h1>`;
}
