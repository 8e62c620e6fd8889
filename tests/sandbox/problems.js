function pair_sum(numbers, target) {
  const seen = new Map();
  for (let i = 0; i < numbers.length; i++) {
    if (seen.has(target - numbers[i])) return [seen.get(target - numbers[i]), i];
    seen.set(numbers[i], i);
  }
  return [];
}

const count_words = (text) => {
  const counts = {};
  for (const word of text.split(/\s+/).filter(Boolean)) counts[word] = (counts[word] || 0) + 1;
  return counts;
};

const is_palindrome = (text) => text === [...text].reverse().join("");

var mean = function (numbers) {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
};

const transpose = (matrix) => matrix[0].map((_, j) => matrix.map((row) => row[j]));

function group_by_length(words) {
  const groups = new Map();
  for (const word of words) groups.set(word.length, [...(groups.get(word.length) || []), word]);
  return groups;
}

function power_mod(base, exponent, modulus) {
  let result = 1n, square = BigInt(base);
  modulus = BigInt(modulus);
  for (exponent = BigInt(exponent); exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

class Solution {
  longest_common_prefix(words) {
    let prefix = words.length ? words[0] : "";
    for (const word of words) while (!word.startsWith(prefix)) prefix = prefix.slice(0, -1);
    return prefix;
  }
}

async function first_negative(numbers) {
  const found = numbers.findIndex((number) => number < 0);
  return found < 0 ? undefined : found;
}

function merge_intervals(intervals) {
  const merged = [];
  for (const [low, high] of [...intervals].sort((a, b) => a[0] - b[0])) {
    const last = merged[merged.length - 1];
    if (last && low <= last[1]) last[1] = Math.max(last[1], high);
    else merged.push([low, high]);
  }
  return merged;
}

function caesar(text, shift) {
  return text.replace(/[a-z]/g, (c) => String.fromCharCode(((c.charCodeAt(0) - 97 + shift) % 26) + 97));
}

function bracket_depth(text) {
  let depth = 0, deepest = 0;
  for (const c of text) {
    depth += c === "(" ? 1 : c === ")" ? -1 : 0;
    if (depth < 0) return -1;
    deepest = Math.max(deepest, depth);
  }
  return depth ? -1 : deepest;
}

const scale = (values, factor) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value * factor]));

function sieve(limit) {
  const prime = Array.from({ length: limit }, (_, i) => i >= 2);
  for (let i = 2; i * i < limit; i++)
    if (prime[i]) for (let j = i * i; j < limit; j += i) prime[j] = false;
  return prime;
}
