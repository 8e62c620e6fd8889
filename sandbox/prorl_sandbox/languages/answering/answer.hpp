// Answers one call of a function: its parameters' types say how JSON becomes values of theirs.
// Stands in front of the submission, so that no macro of its changes anything here.
#include <unistd.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <iostream>
#include <iterator>
#include <limits>
#include <list>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace prorl_answer {

constexpr int answer_descriptor = 3, question_descriptor = 4;

struct Json {
  enum Kind { none, boolean, number, text, list, object } kind = none;
  std::string word;  // a number's or a text's characters, "true" or "false"
  std::vector<Json> items;
  std::vector<std::pair<std::string, Json>> members;
};

struct Mismatch : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Unserialisable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Reader {
 public:
  explicit Reader(const std::string &text) : text_(text) {}

  Json value() {
    Json made;
    switch (next()) {
      case '[':
        made.kind = Json::list;
        for (++at_; next() != ']';) {
          if (text_[at_] == ',') ++at_;
          made.items.push_back(value());
        }
        ++at_;
        break;
      case '{':
        made.kind = Json::object;
        for (++at_; next() != '}';) {
          if (text_[at_] == ',') ++at_;
          next();
          std::string key = string();
          next();
          ++at_;  // the colon
          made.members.emplace_back(std::move(key), value());
        }
        ++at_;
        break;
      case '"':
        made.kind = Json::text;
        made.word = string();
        break;
      default:
        while (at_ < text_.size() && !std::strchr(",]} \n", text_[at_])) made.word += text_[at_++];
        if (made.word == "true" || made.word == "false")
          made.kind = Json::boolean;
        else if (made.word != "null")
          made.kind = Json::number;
    }
    return made;
  }

 private:
  char next() {
    while (std::strchr(" \t\r\n", text_.at(at_))) ++at_;
    return text_[at_];
  }

  unsigned four() {
    unsigned code = std::stoul(text_.substr(at_, 4), nullptr, 16);
    at_ += 4;
    return code;
  }

  std::string string() {
    std::string made;
    for (++at_; text_.at(at_) != '"';) {
      char c = text_[at_++];
      if (c != '\\') {
        made += c;
        continue;
      }
      switch (c = text_[at_++]) {
        case 'b': made += '\b'; break;
        case 'f': made += '\f'; break;
        case 'n': made += '\n'; break;
        case 'r': made += '\r'; break;
        case 't': made += '\t'; break;
        case 'u': {
          unsigned code = four();
          if (code >= 0xD800 && code < 0xDC00 && text_.compare(at_, 2, "\\u") == 0) {
            at_ += 2;
            code = 0x10000 + ((code - 0xD800) << 10) + (four() - 0xDC00);
          }
          if (code < 0x80) {
            made += char(code);
          } else if (code < 0x800) {
            made += char(0xC0 | code >> 6);
            made += char(0x80 | (code & 63));
          } else if (code < 0x10000) {
            made += char(0xE0 | code >> 12);
            made += char(0x80 | (code >> 6 & 63));
            made += char(0x80 | (code & 63));
          } else {
            made += char(0xF0 | code >> 18);
            made += char(0x80 | (code >> 12 & 63));
            made += char(0x80 | (code >> 6 & 63));
            made += char(0x80 | (code & 63));
          }
          break;
        }
        default: made += c;
      }
    }
    ++at_;
    return made;
  }

  const std::string &text_;
  std::size_t at_ = 0;
};

inline void expect(const Json &json, Json::Kind kind, const char *what) {
  if (json.kind != kind) throw Mismatch(std::string("an argument is no ") + what);
}

template <class T>
struct From;  // how a T is made: undefined for types that JSON cannot give

template <>
struct From<bool> {
  static bool make(const Json &json) {
    expect(json, Json::boolean, "boolean");
    return json.word == "true";
  }
};

template <>
struct From<char> {
  static char make(const Json &json) {
    expect(json, Json::text, "character");
    if (json.word.size() != 1) throw Mismatch("an argument is no single character");
    return json.word[0];
  }
};

template <class T>
T integer(const Json &json) {
  expect(json, Json::number, "integer");
  T made{};
  const char *end = json.word.data() + json.word.size();
  auto [stop, error] = std::from_chars(json.word.data(), end, made);
  if (error == std::errc::result_out_of_range)
    throw Mismatch("an argument does not fit its integer type: " + json.word.substr(0, 50));
  if (error != std::errc() || stop != end) throw Mismatch("an argument is no integer");
  return made;
}

template <class T>
T real(const Json &json) {
  expect(json, Json::number, "number");
  if (json.word == "NaN") return std::numeric_limits<T>::quiet_NaN();
  return static_cast<T>(std::strtold(json.word.c_str(), nullptr));  // reads Infinity too
}

#define PRORL_FROM(type, maker) \
  template <>                   \
  struct From<type> {           \
    static type make(const Json &json) { return maker<type>(json); } \
  };
PRORL_FROM(signed char, integer)
PRORL_FROM(unsigned char, integer)
PRORL_FROM(short, integer)
PRORL_FROM(unsigned short, integer)
PRORL_FROM(int, integer)
PRORL_FROM(unsigned, integer)
PRORL_FROM(long, integer)
PRORL_FROM(unsigned long, integer)
PRORL_FROM(long long, integer)
PRORL_FROM(unsigned long long, integer)
PRORL_FROM(__int128, integer)
PRORL_FROM(unsigned __int128, integer)
PRORL_FROM(float, real)
PRORL_FROM(double, real)
PRORL_FROM(long double, real)
#undef PRORL_FROM

template <>
struct From<std::string> {
  static std::string make(const Json &json) {
    expect(json, Json::text, "text");
    return json.word;
  }
};

template <class T>
struct From<std::optional<T>> {
  static std::optional<T> make(const Json &json) {
    if (json.kind == Json::none) return std::nullopt;
    return From<T>::make(json);
  }
};

template <class C>
C sequence(const Json &json) {
  expect(json, Json::list, "list");
  C made;
  for (const Json &item : json.items) made.insert(made.end(), From<typename C::value_type>::make(item));
  return made;
}

template <class T, class A>
struct From<std::vector<T, A>> {
  static std::vector<T, A> make(const Json &json) { return sequence<std::vector<T, A>>(json); }
};
template <class T, class A>
struct From<std::deque<T, A>> {
  static std::deque<T, A> make(const Json &json) { return sequence<std::deque<T, A>>(json); }
};
template <class T, class A>
struct From<std::list<T, A>> {
  static std::list<T, A> make(const Json &json) { return sequence<std::list<T, A>>(json); }
};
template <class T, class C, class A>
struct From<std::set<T, C, A>> {
  static std::set<T, C, A> make(const Json &json) { return sequence<std::set<T, C, A>>(json); }
};
template <class T, class C, class A>
struct From<std::multiset<T, C, A>> {
  static std::multiset<T, C, A> make(const Json &json) { return sequence<std::multiset<T, C, A>>(json); }
};
template <class T, class H, class E, class A>
struct From<std::unordered_set<T, H, E, A>> {
  static std::unordered_set<T, H, E, A> make(const Json &json) {
    return sequence<std::unordered_set<T, H, E, A>>(json);
  }
};

template <class T, std::size_t N>
struct From<std::array<T, N>> {
  static std::array<T, N> make(const Json &json) {
    expect(json, Json::list, "list");
    if (json.items.size() != N) throw Mismatch("an argument has another length than its array");
    std::array<T, N> made{};
    for (std::size_t i = 0; i < N; ++i) made[i] = From<T>::make(json.items[i]);
    return made;
  }
};

template <class... T>
struct From<std::tuple<T...>> {
  static std::tuple<T...> make(const Json &json) {
    expect(json, Json::list, "list");
    if (json.items.size() != sizeof...(T)) throw Mismatch("an argument has another length than its tuple");
    return items(json, std::index_sequence_for<T...>());
  }
  template <std::size_t... I>
  static std::tuple<T...> items(const Json &json, std::index_sequence<I...>) {
    return std::tuple<T...>{From<T>::make(json.items[I])...};
  }
};

template <class A, class B>
struct From<std::pair<A, B>> {
  static std::pair<A, B> make(const Json &json) {
    auto both = From<std::tuple<A, B>>::make(json);
    return {std::get<0>(std::move(both)), std::get<1>(std::move(both))};
  }
};

template <class M>
M mapping(const Json &json) {
  expect(json, Json::object, "object");
  M made;
  for (const auto &[key, value] : json.members) {
    Json name;  // an object's keys are text; a number's key is its text
    using Key = typename M::key_type;
    name.kind = std::is_arithmetic_v<Key> && !std::is_same_v<Key, char> ? Json::number : Json::text;
    if (std::is_same_v<Key, bool>) name.kind = Json::boolean;
    name.word = key;
    made.emplace(From<Key>::make(name), From<typename M::mapped_type>::make(value));
  }
  return made;
}

template <class K, class V, class C, class A>
struct From<std::map<K, V, C, A>> {
  static std::map<K, V, C, A> make(const Json &json) { return mapping<std::map<K, V, C, A>>(json); }
};
template <class K, class V, class H, class E, class A>
struct From<std::unordered_map<K, V, H, E, A>> {
  static std::unordered_map<K, V, H, E, A> make(const Json &json) {
    return mapping<std::unordered_map<K, V, H, E, A>>(json);
  }
};

inline bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    unsigned char first = text[i++];
    int more = first < 0x80 ? 0 : first >> 5 == 6 ? 1 : first >> 4 == 14 ? 2 : first >> 3 == 30 ? 3 : -1;
    if (more < 0) return false;
    for (; more > 0; --more)
      if (i == text.size() || (static_cast<unsigned char>(text[i++]) >> 6) != 2) return false;
  }
  return true;
}

inline void put_text(std::string &out, std::string_view text) {
  if (!is_utf8(text)) throw Unserialisable("a text that is no UTF-8 cannot leave the box");
  out += '"';
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
    } else {
      out += c;
    }
  }
  out += '"';
}

template <class T, class = void>
struct is_iterable : std::false_type {};
template <class T>
struct is_iterable<T, std::void_t<decltype(std::declval<const T &>().begin()), decltype(std::declval<const T &>().end())>>
    : std::true_type {};
template <class T, class = void>
struct is_mapping : std::false_type {};
template <class T>
struct is_mapping<T, std::void_t<typename T::mapped_type>> : std::true_type {};
template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};
template <class T, class = void>
struct is_tuple : std::false_type {};
template <class... T>
struct is_tuple<std::tuple<T...>> : std::true_type {};
template <class A, class B>
struct is_tuple<std::pair<A, B>> : std::true_type {};
template <class T>
constexpr bool is_wide = std::is_same_v<T, __int128> || std::is_same_v<T, unsigned __int128>;
template <class T>
constexpr bool cannot_leave = false;

template <class T>
void put(std::string &out, const T &value) {
  if constexpr (std::is_same_v<T, bool>) {
    out += value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, char>) {
    put_text(out, std::string_view(&value, 1));
  } else if constexpr (std::is_integral_v<T> && !is_wide<T>) {
    out += std::to_string(value);
  } else if constexpr (is_wide<T>) {
    bool negative = value < 0;
    unsigned __int128 left = negative ? -static_cast<unsigned __int128>(value) : value;
    std::string digits;
    do digits.insert(digits.begin(), "0123456789abcdef"[left & 15]);
    while (left >>= 4);
    out += "{\"t\":\"int\",\"v\":\"" + std::string(negative ? "-" : "") + digits + "\"}";
  } else if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value) || std::isinf(static_cast<double>(value))) {
      out += "{\"t\":\"float\",\"v\":\"";
      out += std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
      out += "\"}";
    } else {
      char digits[40];
      std::snprintf(digits, sizeof digits, "%.17g", static_cast<double>(value));
      out += digits;
      if (!std::strpbrk(digits, ".e")) out += ".0";
    }
  } else if constexpr (std::is_convertible_v<const T &, std::string_view>) {
    put_text(out, value);
  } else if constexpr (is_optional<T>::value) {
    if (value)
      put(out, *value);
    else
      out += "null";
  } else if constexpr (is_tuple<T>::value) {
    out += '[';
    std::apply(
        [&out](const auto &...items) {
          int number = 0;
          ((out += number++ ? "," : "", put(out, items)), ...);
        },
        value);
    out += ']';
  } else if constexpr (is_mapping<T>::value) {
    out += "{\"t\":\"dict\",\"v\":[";
    int number = 0;
    for (const auto &[key, item] : value) {
      out += number++ ? ",[" : "[";
      put(out, key);
      out += ',';
      put(out, item);
      out += ']';
    }
    out += "]}";
  } else if constexpr (is_iterable<T>::value) {
    out += '[';
    int number = 0;
    for (auto it = value.begin(); it != value.end(); ++it) {
      out += number++ ? "," : "";
      put<std::decay_t<typename std::iterator_traits<decltype(it)>::value_type>>(out, *it);
    }
    out += ']';
  } else {
    static_assert(cannot_leave<T>, "a value of this type cannot leave the box");
  }
}

template <class T>
struct Kept {  // what holds an argument while the function runs
  using type = T;
};
template <>
struct Kept<std::string_view> {
  using type = std::string;
};

[[noreturn]] inline void send(const std::string &body, int code) {
  std::fflush(nullptr);
  std::cout.flush();
  unsigned size = body.size();
  std::string frame{char(size >> 24), char(size >> 16), char(size >> 8), char(size)};
  frame += body;
  for (std::size_t sent = 0; sent < frame.size();) {
    ssize_t now = ::write(answer_descriptor, frame.data() + sent, frame.size() - sent);
    if (now < 0) ::_exit(1);
    sent += now;
  }
  ::_exit(code);
}

[[noreturn]] inline void fail(const char *type, const char *text, bool memory) {
  std::fprintf(stderr, "%s: %s\n", type, text);
  send(std::string("{\"k\":\"raise\",\"type\":\"") + type + "\",\"memory\":" + (memory ? "true}" : "false}"), 1);
}

inline std::string question() {
  std::string text;
  char chunk[65536];
  for (ssize_t got; (got = ::read(question_descriptor, chunk, sizeof chunk)) > 0;) text.append(chunk, got);
  return text;
}

template <class R, class Call, class... A, std::size_t... I>
[[noreturn]] void serve(Call call, std::tuple<A...> *, std::index_sequence<I...>) {
  try {
    Json asked = Reader(question()).value();
    const std::vector<Json> &given = asked.members.at(1).second.items;
    if (given.size() != sizeof...(A))
      throw Mismatch("the function takes " + std::to_string(sizeof...(A)) + " arguments, not " + std::to_string(given.size()));
    std::tuple<typename Kept<std::decay_t<A>>::type...> kept{
        From<typename Kept<std::decay_t<A>>::type>::make(given[I])...};
    std::string out;
    if constexpr (std::is_void_v<R>) {
      call(static_cast<A &&>(std::get<I>(kept))...);
      out = "null";
    } else {
      put<std::decay_t<R>>(out, call(static_cast<A &&>(std::get<I>(kept))...));
    }
    send("{\"k\":\"value\",\"v\":" + out + ",\"n\":\"" + asked.members.at(0).second.word + "\"}", 0);
  } catch (const Unserialisable &error) {
    std::string text;
    put_text(text, error.what());
    send("{\"k\":\"unserialisable\",\"text\":" + text + "}", 1);
  } catch (const std::bad_alloc &) {
    fail("bad_alloc", "out of memory", true);
  } catch (const Mismatch &error) {
    fail("TypeError", error.what(), false);
  } catch (const std::exception &error) {
    fail("exception", error.what(), false);
  } catch (...) {
    fail("exception", "something that is no std::exception was thrown", false);
  }
}

template <class R, class... A>
[[noreturn]] void serve(R (*function)(A...)) {
  serve<R>(function, static_cast<std::tuple<A...> *>(nullptr), std::index_sequence_for<A...>());
}
template <class R, class S, class... A>
[[noreturn]] void serve(R (S::*method)(A...)) {
  static S owner{};
  auto call = [method](A... args) -> R { return (owner.*method)(static_cast<A &&>(args)...); };
  serve<R>(call, static_cast<std::tuple<A...> *>(nullptr), std::index_sequence_for<A...>());
}
template <class R, class S, class... A>
[[noreturn]] void serve(R (S::*method)(A...) const) {
  static S owner{};
  auto call = [method](A... args) -> R { return (owner.*method)(static_cast<A &&>(args)...); };
  serve<R>(call, static_cast<std::tuple<A...> *>(nullptr), std::index_sequence_for<A...>());
}

}  // namespace prorl_answer
