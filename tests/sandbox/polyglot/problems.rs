use std::collections::{BTreeMap, HashMap};

fn pair_sum(numbers: Vec<i32>, target: i32) -> Vec<usize> {
    let mut seen = HashMap::new();
    for (i, number) in numbers.iter().enumerate() {
        if let Some(&found) = seen.get(&(target - number)) {
            return vec![found, i];
        }
        seen.insert(*number, i);
    }
    vec![]
}

fn count_words(text: &str) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for word in text.split_whitespace() {
        *counts.entry(word.to_string()).or_insert(0) += 1;
    }
    counts
}

fn is_palindrome(text: String) -> bool {
    text.chars().eq(text.chars().rev())
}

pub fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

fn transpose(matrix: &Vec<Vec<i64>>) -> Vec<Vec<i64>> {
    (0..matrix[0].len()).map(|j| matrix.iter().map(|row| row[j]).collect()).collect()
}

fn group_by_length(words: Vec<&str>) -> BTreeMap<usize, Vec<&str>> {
    let mut groups: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for word in words {
        groups.entry(word.len()).or_default().push(word);
    }
    groups
}

fn power_mod(base: u64, mut exponent: u64, modulus: u64) -> u64 {
    let (mut result, mut square, modulus) = (1u128, base as u128, modulus as u128);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result * square % modulus;
        }
        square = square * square % modulus;
        exponent >>= 1;
    }
    result as u64
}

fn longest_common_prefix(words: &[String]) -> String {
    let mut prefix = words.first().cloned().unwrap_or_default();
    for word in words {
        while !word.starts_with(&prefix) {
            prefix.pop();
        }
    }
    prefix
}

fn first_negative(numbers: Vec<i64>) -> Option<usize> {
    numbers.iter().position(|&number| number < 0)
}

fn merge_intervals(mut intervals: Vec<(i32, i32)>) -> Vec<(i32, i32)> {
    intervals.sort();
    let mut merged: Vec<(i32, i32)> = vec![];
    for (low, high) in intervals {
        match merged.last_mut() {
            Some(last) if low <= last.1 => last.1 = last.1.max(high),
            _ => merged.push((low, high)),
        }
    }
    merged
}

fn caesar(text: &str, shift: u8) -> String {
    text.chars()
        .map(|c| if c.is_ascii_lowercase() { ((c as u8 - b'a' + shift % 26) % 26 + b'a') as char } else { c })
        .collect()
}

fn bracket_depth(text: &str) -> i32 {
    let (mut depth, mut deepest) = (0, 0);
    for c in text.chars() {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        if depth < 0 {
            return -1;
        }
        deepest = deepest.max(depth);
    }
    if depth == 0 { deepest } else { -1 }
}

fn scale(mut values: HashMap<String, f64>, factor: f64) -> HashMap<String, f64> {
    values.values_mut().for_each(|value| *value *= factor);
    values
}

fn sieve(limit: usize) -> Vec<bool> {
    let mut prime: Vec<bool> = (0..limit).map(|i| i >= 2).collect();
    for i in 2..limit {
        if prime[i] {
            for j in (i * i..limit).step_by(i) {
                prime[j] = false;
            }
        }
    }
    prime
}
