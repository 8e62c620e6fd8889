// The display names of a dataset's labels.

/** @type {Record<string, string>} */
const OTHERWISE = { gold_check: "gold check", entry: "recipe entry" };

/**
 * Return a label's display name.
 * @param {string} key
 */
export function titled(key) {
  return OTHERWISE[key] ?? key;
}
