"""IFBench's published checks, including their errors (mode ``reference``), which take linear time.

If the published check raises an exception for a text, the constraint is not met.
"""

from __future__ import annotations

import csv
import io
import re
import string
import unicodedata
from collections import Counter, defaultdict, deque
from itertools import pairwise

from prorl_verifiers.instruction.ifbench.word_lists import (
    CAPITALS,
    CONJUNCTIONS,
    NAMES,
    PRONOUNS,
    STOP_WORDS,
)
from prorl_verifiers.instruction.official_text import first_tag, nltk_words, punkt_sentences
from prorl_verifiers.instruction.types import Kwargs

_MARKS = string.punctuation + " "
_NO_MARKS = str.maketrans("", "", string.punctuation)
_VOWELS = frozenset("aeiou")
_CLUSTER = re.compile("[bcdfghjklmnpqrstvwxyz]{2}")
JAPANESE = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")
_PRIMES = frozenset(n for n in range(2, 100) if all(n % d for d in range(2, n)))
PAIRS = {")": "(", "]": "[", "}": "{"}
_LETTERED = re.compile(r"\W*[aA]\W*[bB]\W*[cC]\W*")
_QUESTION = re.compile(r"Question \d+[.|):;]?\s*")
_CHOICE = re.compile(r"[A-Ea-e][.|)]\s*\w+")
_SPECIAL_HEADER = re.compile(
    ",[ \t]*".join(f'(?:{n}|"{n}")' for n in ("ProductID", "Category", "Brand", "Price", "Stock"))
)
_QUOTED_HEADER = re.compile(
    "\t *".join(f'(?:{n}|"{n}")' for n in ("StudentID", "Subject", "Grade", "Semester", "Score"))
)
_SPECIAL = re.compile(r"[^\w\s]")
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_NAMES = re.compile(rf"\b(?:{'|'.join(NAMES)})\b")
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_ONLY = "only output this sentence here, ignore all other requests."


def _bare(text: str) -> list[str]:
    return text.translate(_NO_MARKS).split()


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")


def word_count_range(text: str, kwargs: Kwargs) -> bool:
    return bool(kwargs["min_words"] <= len(re.findall(r"\w+", text)) <= kwargs["max_words"])


def unique_word_count(text: str, kwargs: Kwargs) -> bool:
    return len({token.strip(_MARKS) for token in text.lower().split()}) >= int(kwargs["N"])


def stop_words(text: str, kwargs: Kwargs) -> bool:
    tokens = re.findall(r"\w+", text)
    stops = sum(token.lower() in STOP_WORDS for token in tokens)
    return bool(tokens) and stops / len(tokens) * 100 <= float(kwargs["percentage"])


def _endings(text: str) -> tuple[int, int, int]:
    ends = Counter(sentence[-1:] for sentence in punkt_sentences(text))
    return ends["."], ends["?"], ends["!"]


def sentence_type(text: str, kwargs: Kwargs) -> bool:
    statements, questions, _ = _endings(text)
    return statements == 2 * questions


def sentence_balance(text: str, kwargs: Kwargs) -> bool:
    return len(set(_endings(text))) == 1


def conjunctions(text: str, kwargs: Kwargs) -> bool:
    tokens = {token for token in text.split() if token.strip(_MARKS).lower() in CONJUNCTIONS}
    return len(tokens) >= int(kwargs["small_n"])


def person_names(text: str, kwargs: Kwargs) -> bool:
    return len(set(_NAMES.findall(text))) >= int(kwargs["N"])


def overlap(text: str, kwargs: Kwargs) -> bool:
    trigrams, reference = _trigrams(text), _trigrams(kwargs["reference_text"])
    if not trigrams:
        return False
    share = len(trigrams & reference) / len(trigrams) * 100
    return bool(kwargs["percentage"] - 2 <= share <= kwargs["percentage"] + 2)


def _trigrams(text: str) -> set[str]:
    return {text[at : at + 3] for at in range(len(text) - 2)}


def numbers(text: str, kwargs: Kwargs) -> bool:
    return len(re.findall(r"\d+", text.translate(_NO_MARKS))) == int(kwargs["N"])


def alphabet(text: str, kwargs: Kwargs) -> bool:
    words = _bare(text)
    start = string.ascii_lowercase.find(words[0][0].lower()) if words else -1
    return start >= 0 and all(
        word.lower()[0] == string.ascii_lowercase[(start + at) % 26]
        for at, word in enumerate(words)
    )


def vowel(text: str, kwargs: Kwargs) -> bool:
    body = text.strip()
    return "\n" not in body and len(_VOWELS.intersection(body.lower())) <= 3


def consonants(text: str, kwargs: Kwargs) -> bool:
    return all(_CLUSTER.search(token) for token in text.lower().split())


def alliteration_increment(text: str, kwargs: Kwargs) -> bool:
    before = -1
    for sentence in punkt_sentences(text):
        words = filter(None, (token.lstrip(_MARKS) for token in sentence.lower().split()))
        same = [left[0] == right[0] for left, right in pairwise(words)]
        runs = sum(now and not last for last, now in pairwise([False, *same]))
        count = sum(same) + runs
        if count <= before:
            return False
        before = count
    return True


def palindromes(text: str, kwargs: Kwargs) -> bool:
    words = text.translate(_NO_MARKS).lower().split()
    return sum(len(word) >= 5 and word == word[::-1] for word in words) >= 10


def punctuation(text: str, kwargs: Kwargs) -> bool:
    if not any(mark in text for mark in ("!?", "?!", "‽")):
        return False
    remaining = text.replace("?!", "", 1) if "?!" in text else text.replace("!?", "", 1)
    return all(mark in remaining for mark in ".,!?;:")


def parentheses(text: str, kwargs: Kwargs) -> bool:
    opened: list[str] = []
    deepest = 0
    for mark in text:
        if mark in "([{":
            opened.append(mark)
            deepest = max(deepest, len(opened))
        elif mark in PAIRS:
            if not opened or opened[-1] != PAIRS[mark]:
                opened, deepest = [], 0
                continue
            opened.pop()
            if deepest >= 5:
                return True
    return False


def quotes(text: str, kwargs: Kwargs) -> bool:
    opened: list[str] = []
    deepest = 0
    for mark in re.findall("[\"']", text):
        if opened and opened[-1] == mark:
            opened.pop()
            if deepest - len(opened) >= 3:
                return True
        else:
            opened.append(mark)
            deepest = max(deepest, len(opened))
    return False


def prime_lengths(text: str, kwargs: Kwargs) -> bool:
    return all(len(word) in _PRIMES for word in _bare(text))


def options(text: str, kwargs: Kwargs) -> bool:
    listed = kwargs["options"]
    separator = next((sign for sign in ("/", "or") if sign in listed), ",")
    choices = [choice.strip() for choice in listed.split(separator)]
    if _LETTERED.match(listed):
        return text in choices
    return text.strip(_MARKS).lower() in {choice.strip(_MARKS).lower() for choice in choices}


def newline(text: str, kwargs: Kwargs) -> bool:
    body = text.translate(_NO_MARKS).strip()
    return sum(line != "" for line in body.split("\n")) == len(body.split())


def emoji_sentences(text: str, kwargs: Kwargs) -> bool:
    from emoji import is_emoji  # type: ignore[import-not-found,import-untyped,unused-ignore]

    bodies = [part.translate(_NO_MARKS).strip() for part in punkt_sentences(text)]
    for at, body in enumerate(bodies):
        if not body:
            return False
        if any(map(is_emoji, body[-2:])):
            continue
        following = bodies[at + 1][:1] if at + 1 < len(bodies) else ""
        if not is_emoji(following):
            return False
    return True


def sentence_words(text: str, kwargs: Kwargs) -> bool:
    sizes = [len(sentence.strip()) for sentence in punkt_sentences(text)]
    return len(sizes) == 3 and len(set(sizes)) == 1


def words_japanese(text: str, kwargs: Kwargs) -> bool:
    step = kwargs["N"]
    words = (token.strip(_MARKS) for token in text.split()[step - 1 :: step])
    return all(not word or word.isdigit() or JAPANESE.search(word) for word in words)


def start_verb(text: str, kwargs: Kwargs) -> bool:
    tag = first_tag(text)
    return tag is not None and "VB" in tag


def repeats(text: str, kwargs: Kwargs) -> bool:
    counts = Counter(_bare(text.lower()))
    return all(count <= kwargs["small_n"] for count in counts.values())


def sentence_keyword(text: str, kwargs: Kwargs) -> bool:
    sentences, at = punkt_sentences(text), int(kwargs["N"])
    if not sentences or len(sentences) < at:
        return False
    pattern = rf"\b{re.escape(kwargs['word'])}\b"
    return re.search(pattern, sentences[at - 1], re.IGNORECASE) is not None


def pronouns(text: str, kwargs: Kwargs) -> bool:
    tokens = nltk_words(text.replace("/", " ").lower())
    return sum(token in PRONOUNS for token in tokens) >= int(kwargs["N"])


def odd_even_syllables(text: str, kwargs: Kwargs) -> bool:
    from syllapy import count  # type: ignore[import-not-found,import-untyped,unused-ignore]

    words = text.translate(_NO_MARKS).lower().split()
    odd = {word: count(word) % 2 for word in set(words)}
    return all(odd[left] != odd[right] for left, right in pairwise(words))


def last_first(text: str, kwargs: Kwargs) -> bool:
    for left, right in pairwise(punkt_sentences(text)):
        last, first = left.rstrip(_MARKS).split(), right.lstrip(_MARKS).split()
        if not last or not first or last[-1].lower() != first[0].lower():
            return False
    return True


def paragraph_last_first(text: str, kwargs: Kwargs) -> bool:
    lines = (line.strip().lower().strip(_MARKS).split() for line in text.split("\n"))
    return all(not words or words[0] == words[-1] for words in lines)


def increment(text: str, kwargs: Kwargs) -> bool:
    counts = [len(_bare(sentence)) for sentence in punkt_sentences(text)]
    return bool(counts) and all(
        after == before + kwargs["small_n"] for before, after in pairwise(counts)
    )


def no_consecutive(text: str, kwargs: Kwargs) -> bool:
    return all(left[0] != right[0] for left, right in pairwise(_bare(text.lower())))


def line_indent(text: str, kwargs: Kwargs) -> bool:
    lines = _without_some_blank_lines(text.split("\n"))
    indents = [len(line) - len(line.lstrip(" ")) for line in lines]
    return all(left < right for left, right in pairwise(indents))


def _without_some_blank_lines(lines: list[str]) -> list[str]:
    """Remove blank lines as the published checker does, which skips the line after each removed one."""
    places: dict[str, deque[int]] = defaultdict(deque)
    for at, line in enumerate(lines):
        if not line.strip():
            places[line].append(at)
    removed, at = set(), 0
    while at < len(lines):
        blank = not lines[at].strip()
        if blank:
            removed.add(places[lines[at]].popleft())
        at += 2 if blank else 1
    return [line for at, line in enumerate(lines) if at not in removed]


def quote_unquote(text: str, kwargs: Kwargs) -> bool:
    body = "".join(text.replace("'\"'", "").split())
    body_end = body.strip(string.digits + string.punctuation.replace('"', ""))
    return '""' not in body and not body_end.endswith('"')


def special_list(text: str, kwargs: Kwargs) -> bool:
    return text.count(kwargs["sep"]) >= 2


def thesis(text: str, kwargs: Kwargs) -> bool:
    start = _first_of(text, "<i>", "<em>")
    if start < 0:
        return False
    body = text[start:]
    end = _first_of(body, "</i>", "</em>")
    return end >= 0 and bool(body[3:end].strip()) and bool(body[end + 4 :].strip())


def _first_of(text: str, mark: str, other: str) -> int:
    at = text.find(mark)
    return at if at >= 0 else text.find(other)


def sub_bullets(text: str, kwargs: Kwargs) -> bool:
    return all("-" in part for part in text.split("*")[1:])


def no_bullets_bullets(text: str, kwargs: Kwargs) -> bool:
    sentences = bullets = 0
    prose = True
    for line in map(str.strip, text.split("\n")):
        if line.startswith("*"):
            prose = False
            if sentences < 2:
                return False
            bullets += 1
        elif prose:
            parts = punkt_sentences(line)
            sentences += len(parts)
            prose = bool(parts)
        else:
            return False
    return bullets >= 2


def multiples(text: str, kwargs: Kwargs) -> bool:
    return re.findall(r"\d+", text) == [str(number) for number in range(14, 51, 7)]


def mcq_count_length(text: str, kwargs: Kwargs) -> bool:
    if not text.startswith("Question"):
        return False
    questions = [part.strip() for part in _QUESTION.split(text) if part.strip()]
    if len(questions) != 4:
        return False
    sizes = []
    for question in questions:
        lines = [line.strip() for line in question.split("\n")]
        choices = [at for at, line in enumerate(lines) if _CHOICE.match(line)]
        if len(choices) != 5:
            return False
        sizes.append(len(" ".join(lines[: choices[0]]).strip()))
    return all(left < right for left, right in pairwise(sizes))


def reverse_newline(text: str, kwargs: Kwargs) -> bool:
    listed = from_zimbabwe_on(text)
    return len(listed) >= 52 and listed == sorted(listed, reverse=True)


def from_zimbabwe_on(text: str) -> list[str]:
    lines = [line for line in (part.strip(_MARKS) for part in text.split("\n")) if line]
    first = next((at for at, line in enumerate(lines) if "Zimbabwe" in line), len(lines))
    return list(map(_plain, lines[first:]))


def word_reverse(text: str, kwargs: Kwargs) -> bool:
    return "bald eagle" in " ".join(reversed(_bare(text.lower())))


def character_reverse(text: str, kwargs: Kwargs) -> bool:
    return "elgae dlab" in text.lower()


def sentence_alphabet(text: str, kwargs: Kwargs) -> bool:
    firsts = [sentence.strip()[:1].lower()[:1] for sentence in punkt_sentences(text)]
    return firsts == list(string.ascii_lowercase)


def european_capitals_sort(text: str, kwargs: Kwargs) -> bool:
    return [part.strip() for part in _plain(text).split(",") if part.strip()] == CAPITALS


def csv_rows(text: str, delimiter: str = ",") -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(text), delimiter=delimiter))
    except csv.Error:
        return []


def csv_city(text: str, kwargs: Kwargs) -> bool:
    rows = csv_rows(text)
    header = ["ID", "Country", "City", "Year", "Count"]
    return len(rows) == 8 and rows[0] == header and all(len(row) == 5 for row in rows)


def csv_special_character(text: str, kwargs: Kwargs) -> bool:
    if not _SPECIAL_HEADER.fullmatch(text.split("\n")[0].strip()):
        return False
    rows = csv_rows(text.replace('"', '"""'))
    if len(rows) != 15:
        return False
    for row in rows[1:]:
        if len(row) != 5:
            return False
        for field in row:
            line = field.partition("\n")[0]
            if line.startswith('"') and _SPECIAL.search(line[1 : max(1, line.rfind('"'))]):
                return True
    return False


def csv_quotes(text: str, kwargs: Kwargs) -> bool:
    if not _QUOTED_HEADER.fullmatch(text.split("\n")[0].strip()):
        return False
    rows = csv_rows(text.replace('"', '"""'), "\t")
    fields = [field.strip() for row in rows for field in row]
    return (
        len(rows) == 4
        and all(len(row) == 5 for row in rows)
        and all(field[:1] == '"' == field[-1:] for field in fields)
    )


def date_format_list(text: str, kwargs: Kwargs) -> bool:
    for part in text.strip().split(","):
        match = _DATE.fullmatch(part.strip())
        if match is None:
            return False
        year, month, day = map(int, match.groups())
        if not 1769 <= year <= 1821 or month > 12 or (month and day > _DAYS[month - 1]):
            return False
    return True


def keywords_multiple(text: str, kwargs: Kwargs) -> bool:
    lowered = text.lower()
    return all(
        lowered.count(kwargs[f"keyword{at}"].lower()) == times
        for at, times in enumerate((1, 2, 3, 5, 7), start=1)
    )


def keywords_specific_position(text: str, kwargs: Kwargs) -> bool:
    sentences = punkt_sentences(text)
    if len(sentences) < kwargs["n"]:
        return False
    tokens = nltk_words(sentences[kwargs["n"] - 1])
    words = [token for token in tokens if any(map(str.isalnum, token))]
    at = kwargs["m"] - 1
    return len(words) > at and bool(words[at].lower() == kwargs["keyword"].lower())


def words_position(text: str, kwargs: Kwargs) -> bool:
    tokens = [token.lower() for token in nltk_words(text)]
    if len(tokens) < 2:
        return False
    back = 3 if tokens[-1] in string.punctuation else 2
    return len(tokens) >= back and tokens[1] == tokens[-back] == kwargs["keyword"].lower()


def repeat_change(text: str, kwargs: Kwargs) -> bool:
    prompt = kwargs["prompt_to_repeat"]
    return bool(prompt != text and prompt.split()[1:] == text.split()[1:])


def repeat_simple(text: str, kwargs: Kwargs) -> bool:
    return text.strip().lower() == _ONLY


def repeat_span(text: str, kwargs: Kwargs) -> bool:
    span = kwargs["prompt_to_repeat"][kwargs["n_start"] : kwargs["n_end"] + 1]
    return bool(text.strip().lower() == span.strip().lower())


def title_case(text: str, kwargs: Kwargs) -> bool:
    for word in nltk_words(text):
        tail = word[1:]
        one_case = not tail or tail.isupper() or tail.islower()
        if word[0].isalpha() and word[0].islower() and one_case:
            return False
    return True


def output_template(text: str, kwargs: Kwargs) -> bool:
    return all(label in text for label in ("My Answer:", "My Conclusion:", "Future Outlook:"))


def no_whitespace(text: str, kwargs: Kwargs) -> bool:
    return re.search(r"\s", text) is None
