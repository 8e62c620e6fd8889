package main

import (
	"math/big"
	"sort"
	"strings"
)

func pair_sum(numbers []int, target int) []int {
	seen := map[int]int{}
	for i, number := range numbers {
		if found, ok := seen[target-number]; ok {
			return []int{found, i}
		}
		seen[number] = i
	}
	return nil
}

func count_words(text string) map[string]int {
	counts := map[string]int{}
	for _, word := range strings.Fields(text) {
		counts[word]++
	}
	return counts
}

func is_palindrome(text string) bool {
	runes := []rune(text)
	for i := range runes {
		if runes[i] != runes[len(runes)-1-i] {
			return false
		}
	}
	return true
}

func mean(numbers []float64) float64 {
	sum := 0.0
	for _, number := range numbers {
		sum += number
	}
	return sum / float64(len(numbers))
}

func transpose(matrix [][]int) [][]int {
	made := make([][]int, len(matrix[0]))
	for _, row := range matrix {
		for j, item := range row {
			made[j] = append(made[j], item)
		}
	}
	return made
}

func group_by_length(words []string) map[int][]string {
	groups := map[int][]string{}
	for _, word := range words {
		groups[len(word)] = append(groups[len(word)], word)
	}
	return groups
}

func power_mod(base, exponent, modulus int64) *big.Int {
	return new(big.Int).Exp(big.NewInt(base), big.NewInt(exponent), big.NewInt(modulus))
}

func longest_common_prefix(words []string) string {
	if len(words) == 0 {
		return ""
	}
	prefix := words[0]
	for _, word := range words {
		for !strings.HasPrefix(word, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	return prefix
}

func first_negative(numbers []int) *int {
	for i, number := range numbers {
		if number < 0 {
			return &i
		}
	}
	return nil
}

func merge_intervals(intervals [][]int) [][]int {
	sort.Slice(intervals, func(i, j int) bool { return intervals[i][0] < intervals[j][0] })
	merged := [][]int{}
	for _, one := range intervals {
		last := len(merged) - 1
		if last >= 0 && one[0] <= merged[last][1] {
			if one[1] > merged[last][1] {
				merged[last][1] = one[1]
			}
		} else {
			merged = append(merged, one)
		}
	}
	return merged
}

func caesar(text string, shift int) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' {
			return 'a' + (c-'a'+rune(shift))%26
		}
		return c
	}, text)
}

func bracket_depth(text string) int {
	depth, deepest := 0, 0
	for _, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth < 0 {
			return -1
		}
		if depth > deepest {
			deepest = depth
		}
	}
	if depth != 0 {
		return -1
	}
	return deepest
}

func scale(values map[string]float64, factor float64) map[string]float64 {
	for name := range values {
		values[name] *= factor
	}
	return values
}

func sieve(limit int) []bool {
	prime := make([]bool, limit)
	for i := 2; i < limit; i++ {
		prime[i] = true
	}
	for i := 2; i*i < limit; i++ {
		if prime[i] {
			for j := i * i; j < limit; j += i {
				prime[j] = false
			}
		}
	}
	return prime
}
