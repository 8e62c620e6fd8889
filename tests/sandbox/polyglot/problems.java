import java.util.*;

class Solution {
    public int[] pair_sum(int[] numbers, int target) {
        Map<Integer, Integer> seen = new HashMap<>();
        for (int i = 0; i < numbers.length; i++) {
            Integer found = seen.get(target - numbers[i]);
            if (found != null) return new int[] {found, i};
            seen.put(numbers[i], i);
        }
        return new int[0];
    }

    static Map<String, Integer> count_words(String text) {
        Map<String, Integer> counts = new HashMap<>();
        for (String word : text.trim().split("\\s+")) if (!word.isEmpty()) counts.merge(word, 1, Integer::sum);
        return counts;
    }

    boolean is_palindrome(String text) {
        return new StringBuilder(text).reverse().toString().equals(text);
    }

    double mean(double[] numbers) {
        return Arrays.stream(numbers).average().orElse(Double.NaN);
    }

    List<List<Integer>> transpose(List<List<Integer>> matrix) {
        List<List<Integer>> made = new ArrayList<>();
        for (int j = 0; j < matrix.get(0).size(); j++) {
            List<Integer> column = new ArrayList<>();
            for (List<Integer> row : matrix) column.add(row.get(j));
            made.add(column);
        }
        return made;
    }

    TreeMap<Integer, List<String>> group_by_length(String[] words) {
        TreeMap<Integer, List<String>> groups = new TreeMap<>();
        for (String word : words) groups.computeIfAbsent(word.length(), key -> new ArrayList<>()).add(word);
        return groups;
    }

    static long power_mod(long base, long exponent, long modulus) {
        return java.math.BigInteger.valueOf(base)
            .modPow(java.math.BigInteger.valueOf(exponent), java.math.BigInteger.valueOf(modulus)).longValue();
    }

    String longest_common_prefix(List<String> words) {
        String prefix = words.isEmpty() ? "" : words.get(0);
        for (String word : words) while (!word.startsWith(prefix)) prefix = prefix.substring(0, prefix.length() - 1);
        return prefix;
    }

    Optional<Integer> first_negative(ArrayList<Long> numbers) {
        for (int i = 0; i < numbers.size(); i++) if (numbers.get(i) < 0) return Optional.of(i);
        return Optional.empty();
    }

    int[][] merge_intervals(int[][] intervals) {
        Arrays.sort(intervals, (a, b) -> Integer.compare(a[0], b[0]));
        LinkedList<int[]> merged = new LinkedList<>();
        for (int[] one : intervals) {
            if (!merged.isEmpty() && one[0] <= merged.getLast()[1])
                merged.getLast()[1] = Math.max(merged.getLast()[1], one[1]);
            else merged.add(one);
        }
        return merged.toArray(new int[0][]);
    }

    String caesar(String text, int shift) {
        StringBuilder made = new StringBuilder();
        for (char c : text.toCharArray())
            made.append(c >= 'a' && c <= 'z' ? (char) ('a' + (c - 'a' + shift) % 26) : c);
        return made.toString();
    }

    int bracket_depth(String text) {
        int depth = 0, deepest = 0;
        for (char c : text.toCharArray()) {
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (depth < 0) return -1;
            deepest = Math.max(deepest, depth);
        }
        return depth != 0 ? -1 : deepest;
    }

    Map<String, Double> scale(Map<String, Double> values, double factor) {
        values.replaceAll((name, value) -> value * factor);
        return values;
    }

    boolean[] sieve(int limit) {
        boolean[] prime = new boolean[limit];
        for (int i = 2; i < limit; i++) prime[i] = true;
        for (int i = 2; i * i < limit; i++)
            if (prime[i]) for (int j = i * i; j < limit; j += i) prime[j] = false;
        return prime;
    }
}
