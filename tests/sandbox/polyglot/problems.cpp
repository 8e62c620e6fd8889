#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
using namespace std;

vector<int> pair_sum(const vector<int>& numbers, int target) {
    unordered_map<int, int> seen;
    for (int i = 0; i < (int)numbers.size(); i++) {
        auto found = seen.find(target - numbers[i]);
        if (found != seen.end()) return {found->second, i};
        seen[numbers[i]] = i;
    }
    return {};
}

map<string, int> count_words(const string& text) {
    map<string, int> counts;
    istringstream words(text);
    for (string word; words >> word;) counts[word]++;
    return counts;
}

bool is_palindrome(string text) { return equal(text.begin(), text.end(), text.rbegin()); }

double mean(vector<double> numbers) {
    return accumulate(numbers.begin(), numbers.end(), 0.0) / numbers.size();
}

vector<vector<int>> transpose(vector<vector<int>>& matrix) {
    vector<vector<int>> made(matrix[0].size(), vector<int>(matrix.size()));
    for (size_t i = 0; i < matrix.size(); i++)
        for (size_t j = 0; j < matrix[0].size(); j++) made[j][i] = matrix[i][j];
    return made;
}

map<int, vector<string>> group_by_length(vector<string> words) {
    map<int, vector<string>> groups;
    for (const string& word : words) groups[word.size()].push_back(word);
    return groups;
}

long long power_mod(long long base, long long exponent, long long modulus) {
    __int128 result = 1, square = base % modulus;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1) result = result * square % modulus;
        square = square * square % modulus;
    }
    return result;
}

string longest_common_prefix(vector<string> words) {
    string prefix = words.empty() ? "" : words[0];
    for (const string& word : words)
        while (word.compare(0, prefix.size(), prefix) != 0) prefix.pop_back();
    return prefix;
}

optional<int> first_negative(vector<int> numbers) {
    for (size_t i = 0; i < numbers.size(); i++)
        if (numbers[i] < 0) return i;
    return nullopt;
}

vector<pair<int, int>> merge_intervals(vector<pair<int, int>> intervals) {
    sort(intervals.begin(), intervals.end());
    vector<pair<int, int>> merged;
    for (auto [low, high] : intervals) {
        if (!merged.empty() && low <= merged.back().second)
            merged.back().second = max(merged.back().second, high);
        else
            merged.push_back({low, high});
    }
    return merged;
}

string caesar(string text, int shift) {
    for (char& c : text)
        if (islower(c)) c = 'a' + (c - 'a' + shift) % 26;
    return text;
}

int bracket_depth(string text) {
    int depth = 0, deepest = 0;
    for (char c : text) {
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (depth < 0) return -1;
        deepest = max(deepest, depth);
    }
    return depth ? -1 : deepest;
}

unordered_map<string, double> scale(unordered_map<string, double> values, double factor) {
    for (auto& [name, value] : values) value *= factor;
    return values;
}

vector<bool> sieve(int limit) {
    vector<bool> prime(limit, true);
    for (int i = 0; i < min(limit, 2); i++) prime[i] = false;
    for (int i = 2; i * i < limit; i++)
        if (prime[i])
            for (int j = i * i; j < limit; j += i) prime[j] = false;
    return prime;
}
