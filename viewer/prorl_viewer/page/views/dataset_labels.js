// What the labels of a dataset's rows are called.

/** @type {Record<string, string>} */
const OTHERWISE = { gold_check: "gold check", entry: "recipe entry" };

/**
 * A label's key in words.
 * @param {string} key
 */
export function titled(key) {
  return OTHERWISE[key] ?? key;
}
