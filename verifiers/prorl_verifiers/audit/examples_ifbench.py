"""A text that follows each id of IFBench with the example arguments, and texts that just miss it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice, product

from prorl_verifiers.audit.examples import SENTENCE, Example, counted, exactly
from prorl_verifiers.instruction.ifbench.word_lists import CAPITALS, NAMES

_PROMPT = "Write two verses about a lighthouse."
_REFERENCE = "The quick keeper of the lighthouse waxed his boots before every journey."
_ODD = "0123456789!$%&/=+~^|"
_PALINDROMES = "level radar civic kayak madam refer rotor solos stats tenet".split()  # noqa: SIM905
_ALPHABET = [f"{letter}b is." for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
_COUNTRIES = """
    Zimbabwe,Zambia,Uganda,Tunisia,Togo,Tanzania,Sudan,South Sudan,South Africa,Somalia,Sierra Leone,Seychelles,Senegal,
    Sao Tome and Principe,Rwanda,Nigeria,Niger,Namibia,Mozambique,Morocco,Mauritius,Mauritania,Mali,Malawi,Madagascar,Libya,
    Liberia,Lesotho,Kenya,Ivory Coast,Guinea-Bissau,Guinea,Ghana,Gambia,Gabon,Ethiopia,Eswatini,Eritrea,Equatorial Guinea,
    Egypt,Djibouti,Democratic Republic of the Congo,Congo,Comoros,Chad,Central African Republic,Cape Verde,Cameroon,Burundi,
    Burkina Faso,Botswana,Benin,Angola,Algeria
""".replace("\n", "").split(",")
_AFRICA = [name.strip() for name in _COUNTRIES]
_CITIES = "ID,Country,City,Year,Count"
_GOODS = "ProductID,Category,Brand,Price,Stock"
_MARKED = '\n1,"a&b",b,2,3'
_GRADES = '"StudentID"\t"Subject"\t"Grade"\t"Semester"\t"Score"'
_GRADE = '\n"1"\t"a"\t"b"\t"2"\t"3"'


def _different(count: int) -> str:
    """Return so many different words of two syllables."""
    syllables = list(map("".join, product("bdfgklmnprstvz", "aeiou")))
    return " ".join(islice(map("".join, product(syllables, syllables)), count))


def _keywords(*times: int) -> str:
    names = ("kaleidoscope", "nebula", "obelisk", "quartz", "zephyr")
    return " ".join(" ".join([name] * many) for name, many in zip(names, times, strict=True))


def _quiz(stems: tuple[str, ...], options: str = "ABCDE") -> str:
    choices = "\n".join(f"{letter}) {letter}lse" for letter in options)
    return "\n".join(f"Question {at}\n{stem}\n{choices}" for at, stem in enumerate(stems, 1))


_STEMS = ("Who?", "Who was?", "Who was it?", "Who was it then?")

IFBENCH_EXAMPLES: Mapping[str, Example] = {
    "count:word_count_range": Example(
        "lamp " * 720, {"one too few": "lamp " * 699, "one too many": "lamp " * 751}
    ),
    "count:unique_word_count": Example(
        _different(300),
        {
            "one too few": _different(299),
            "in capitals": f"{_different(299)} {_different(1).upper()}",
        },
    ),
    "count:conjunctions": Example(
        "A lamp and a gull, but no oar, yet a sail.",
        {
            "one too few": "A lamp and a gull, but no oar.",
            "in capitals": "A lamp and a gull AND no oar And a sail.",
            "inside another word": "A lamp and a button, yet no oak norm.",
        },
    ),
    "count:person_names": Example(
        " met ".join(NAMES[:7]),
        {
            "one too few": " met ".join(NAMES[:6]),
            "the same again": " met ".join([*NAMES[:6], NAMES[0]]),
            "inside another word": " met ".join([*NAMES[:6], f"{NAMES[6]}ton"]),
        },
    ),
    "count:numbers": exactly("lamp 4 ", 7),
    "count:punctuation": Example(
        "Look: a lamp, a gull; an oar. Why? Run! Really?!",
        {
            "no interrobang": "Look: a lamp, a gull; an oar. Why? Run!",
            "no semicolon": "Look: a lamp, a gull, an oar. Why? Run! Really?!",
        },
    ),
    "count:words_japanese": Example(
        "one two three four five six 犬 " * 2,
        {
            "one without": "one two three four five six 犬 one two three four five six seven",
            "one too few": "one two three four five 犬",
        },
    ),
    "count:pronouns": counted("they run ", 40),
    "count:keywords_multiple": Example(
        _keywords(1, 2, 3, 5, 7),
        {
            "one too few": _keywords(1, 2, 3, 5, 6),
            "one too many": _keywords(2, 2, 3, 5, 7),
            "inside another word": f"{_keywords(1, 2, 3, 5, 6)} zephyrs",
        },
    ),
    "ratio:stop_words": Example(
        "Lamps burn brightly.", {"one too many": "The lamps burn brightly beside this harbour."}
    ),
    "ratio:sentence_type": Example(
        "A lamp burns. A gull cries. Who comes?",
        {
            "one too few": "A lamp burns. Who comes?",
            "one too many": "A lamp burns. A gull cries. Who comes? Who goes?",
            "none": "A lamp burns",
        },
    ),
    "ratio:sentence_balance": Example(
        "A lamp burns. Who comes? Look!",
        {
            "one too few": "A lamp burns. Who comes?",
            "one too many": "A lamp burns. A gull cries. Who comes? Look!",
        },
    ),
    "ratio:overlap": Example(
        _REFERENCE[:32] + _ODD,
        {"all of it": _REFERENCE, "one too few": _REFERENCE[:24] + _ODD, "none": _ODD},
    ),
    "ratio:sentence_words": Example(
        "Cats run. Dogs nap. Cows eat.",
        {
            "a word again": "Cats run. Dogs run. Cows eat.",
            "another length": "Cats run. Dogs nap. Cows sleep.",
            "one too few": "Cats run. Dogs nap.",
        },
    ),
    "words:alphabet": Example(
        "A bird calls",
        {"another place": "A calls bird", "one word": "A", "a word again": "A bird bird"},
    ),
    "words:vowel": Example(
        "A big red tip.",
        {
            "one too many": "A big red tulip on top.",
            "a second line": "A big\nred tip.",
            "accents": "A big réd tip öf gúm.",
        },
    ),
    "words:consonants": Example(
        "Nothing stands.", {"one without": "Nothing at hand stands.", "another word": "A lamp."}
    ),
    "words:palindrome": Example(
        " ".join(_PALINDROMES),
        {
            "one too few": " ".join(_PALINDROMES[:9]),
            "the same again": " ".join([*_PALINDROMES[:9], "LEVEL"]),
        },
    ),
    "words:prime_lengths": Example(
        "The lamps burning", {"another word": "The lamp burning", "one letter": "The a lamps"}
    ),
    "words:start_verb": Example(
        "Consider the lamp.",
        {"junk before": "The considered lamp.", "another word": "Lamp, consider."},
    ),
    "words:repeats": Example(
        "lamp lamp lamp gull",
        {"one too many": "lamp lamp lamp lamp", "in capitals": "lamp lamp lamp LAMP"},
    ),
    "words:odd_even_syllables": Example(
        "water cat water", {"another word": "water cat dog", "one word": "water"}
    ),
    "words:last_first": Example(
        "We saw gulls. Gulls saw us.",
        {"another word": "We saw gulls. Lamps saw us.", "one sentence": "We saw gulls."},
    ),
    "words:paragraph_last_first": Example(
        "Lamps outshine lamps",
        {
            "another word": "Lamps outshine gulls",
            "one without": "Lamps outshine lamps\nGulls cry",
            "junk behind": "Lamps outshine lamps now",
        },
    ),
    "words:no_consecutive": Example(
        "One lamp burns", {"another word": "One lamp lights", "one word": "One"}
    ),
    "words:keywords_specific_position": Example(
        f"{SENTENCE} " * 6 + "The old keeper saw kaleidoscope lamps.",
        {
            "another place": f"{SENTENCE} " * 6 + "The old keeper kaleidoscope saw lamps.",
            "another sentence": "The old keeper saw kaleidoscope lamps. " + f"{SENTENCE} " * 6,
        },
    ),
    "words:words_position": Example(
        "The kaleidoscope saw a kaleidoscope glow.",
        {
            "another place": "A kaleidoscope saw the glow of kaleidoscope.",
            "inside another word": "The kaleidoscopes saw a kaleidoscope glow.",
        },
    ),
    "sentence:alliteration_increment": Example(
        "We go. Big boys run. Ten tall trees.",
        {"as many": "We go. Big boys run. Tall trees.", "one sentence": "We go."},
    ),
    "sentence:keyword": Example(
        f"{SENTENCE} " * 6 + "A kaleidoscope glows.",
        {
            "another sentence": "A kaleidoscope glows. " + f"{SENTENCE} " * 6,
            "inside another word": f"{SENTENCE} " * 6 + "A kaleidoscopes glows.",
        },
    ),
    "sentence:increment": Example(
        "We go. We go by the sea.",
        {
            "one too few": "We go. We go by sea.",
            "one too many": "We go. We go by the wide sea.",
            "one sentence": "We go.",
        },
    ),
    "format:parentheses": Example(
        "a (b [c {d (e [f])}])",
        {
            "one too few": "a (b [c {d (e)}])",
            "one not closed": "a (b [c {d (e [f)}])",
            "side by side": "(a) [b] {c} (d) [e]",
        },
    ),
    "format:quotes": Example(
        'He said, "I heard \'she has "it" now\' once".',
        {
            "one too few": "He said, \"I heard 'she' once\".",
            "side by side": '"a" \'b\' "c"',
        },
    ),
    "format:options": Example(
        "Harbour",
        {
            "two answers": "lantern harbour",
            "another answer": "lighthouse",
            "junk behind": "harbour xyzzy",
            "all of it": "lantern/harbour/neither",
        },
    ),
    "format:newline": Example(
        "One\ntwo\nthree", {"two in one": "One two\nthree", "one word": "One"}
    ),
    "format:emoji": Example(
        "A lamp burns 😀. A gull cries 😀!",
        {"one without": "A lamp burns 😀. A gull cries!", "another place": "😀 A lamp burns."},
    ),
    "format:line_indent": Example(
        "a lamp\n a gull\n  an oar",
        {"as many": "a lamp\n a gull\n an oar", "one line": "a lamp"},
    ),
    "format:quote_unquote": Example(
        '"Be" means exist, "do" means act.',
        {
            "nothing behind it": '"Be" means exist, "do"',
            "none": "Be means exist.",
            "side by side": '"Be" "do" mean act.',
        },
    ),
    "format:list": Example(
        "SEPARATOR one\nSEPARATOR two",
        {
            "one too few": "SEPARATOR one\ntwo",
            "in the middle": "one SEPARATOR two SEPARATOR three",
            "empty ones": "SEPARATOR\nSEPARATOR",
        },
    ),
    "format:thesis": Example(
        "<em>Lamps win.</em> They do.",
        {
            "one not closed": "<em>Lamps win. They do.",
            "nothing behind it": "<em>Lamps win.</em>",
            "an empty one": "<em></em> They do.",
        },
    ),
    "format:sub-bullets": Example(
        "* one\n- two\n* three\n- four",
        {
            "one without": "* one\n- two\n* three",
            "none": "* one\n* two",
            "an empty one": "* one\n- two\n* three\n-",
        },
    ),
    "format:no_bullets_bullets": Example(
        "Lamps burn. Gulls cry.\n\n* one\n* two",
        {
            "one too few": "Lamps burn. Gulls cry.\n\n* one",
            "one sentence": "Lamps burn.\n\n* one\n* two",
            "junk behind": "Lamps burn. Gulls cry.\n\n* one\n* two\nxyzzy",
        },
    ),
    "format:title_case": Example(
        "The Lamp of the Keeper",
        {"a small letter": "The lamp of the Keeper", "the first small": "the Lamp of the Keeper"},
    ),
    "format:output_template": Example(
        "My Answer: a lamp My Conclusion: it burns Future Outlook: bright",
        {
            "one without": "My Answer: a lamp My Conclusion: it burns",
            "another place": "My Conclusion: it burns My Answer: a lamp Future Outlook: bright",
            "an empty one": "My Answer: a lamp My Conclusion: Future Outlook: bright",
            "junk before": "xyzzy My Answer: a lamp My Conclusion: it burns Future Outlook: bright",
        },
    ),
    "format:no_whitespace": Example(
        "lamp,gull",
        {
            "a space": "lamp, gull",
            "a hard space": "lamp,\u00a0gull",
            "a second line": "lamp,\ngull",
        },
    ),
    "custom:multiples": Example(
        "14, 21, 28, 35, 42, 49",
        {
            "one too few": "14, 21, 28, 35, 42",
            "one too many": "14, 21, 28, 35, 42, 49, 56",
            "another place": "14, 28, 21, 35, 42, 49",
        },
    ),
    "custom:mcq_count_length": Example(
        _quiz(_STEMS),
        {
            "one too few": _quiz(_STEMS[:3]),
            "one option too few": _quiz(_STEMS, "ABCD"),
            "another place": _quiz((_STEMS[1], _STEMS[0], *_STEMS[2:])),
            "junk before": "xyzzy\n" + _quiz(_STEMS),
        },
    ),
    "custom:reverse_newline": Example(
        "\n".join(_AFRICA),
        {
            "one too few": "\n".join(_AFRICA[:51]),
            "another place": "\n".join([_AFRICA[0], _AFRICA[2], _AFRICA[1], *_AFRICA[3:]]),
            "no countries": "Zimbabwe\n" + "\n".join(f"T{at}" for at in range(99, 40, -1)),
            "a country again": "\n".join([*_AFRICA[:10], *_AFRICA[9:52]]),
        },
    ),
    "custom:word_reverse": Example(
        "eagle bald the is animal national The",
        {
            "all of it": "The national animal is the bald eagle",
            "another answer": "turkey wild the is It",
        },
    ),
    "custom:character_reverse": Example(
        "elgae dlab eht si tI",
        {"all of it": "It is the bald eagle", "another answer": "yekrut dliw eht si tI"},
    ),
    "custom:sentence_alphabet": Example(
        " ".join(_ALPHABET),
        {
            "one too few": " ".join(_ALPHABET[:25]),
            "another place": " ".join([_ALPHABET[1], _ALPHABET[0], *_ALPHABET[2:]]),
        },
    ),
    "custom:european_capitals_sort": Example(
        ", ".join(CAPITALS),
        {
            "one too few": ", ".join(CAPITALS[:-1]),
            "another place": ", ".join([CAPITALS[1], CAPITALS[0], *CAPITALS[2:]]),
            "junk behind": ", ".join([*CAPITALS, "xyzzy"]),
        },
    ),
    "custom:csv_city": Example(
        _CITIES + "\n1,a,b,2,3" * 7,
        {
            "one too few": _CITIES + "\n1,a,b,2,3" * 6,
            "one too many": _CITIES + "\n1,a,b,2,3" * 8,
            "a field too few": _CITIES + "\n1,a,b,2,3" * 6 + "\n1,a,b,2",
            "empty ones": _CITIES + "\n,,,," * 7,
        },
    ),
    "custom:csv_special_character": Example(
        _GOODS + "\n1,a,b,2,3" * 13 + _MARKED,
        {
            "one too few": _GOODS + "\n1,a,b,2,3" * 12 + _MARKED,
            "none": _GOODS + "\n1,a,b,2,3" * 14,
            "a field too few": _GOODS + _MARKED + "\n1,a,b,2" * 13,
        },
    ),
    "custom:csv_quotes": Example(
        _GRADES + _GRADE * 3,
        {
            "one too few": _GRADES + _GRADE * 2,
            "one without": _GRADES + _GRADE * 2 + '\n"1"\ta\t"b"\t"2"\t"3"',
            "empty ones": _GRADES + '\n""\t""\t""\t""\t""' * 3,
        },
    ),
    "custom:date_format_list": Example(
        "1796-04-12, 1815-06-18",
        {
            "no date": "1796-02-30, 1815-06-18",
            "another century": "1796-04-12, 1950-06-18",
            "junk behind": "1796-04-12, 1815-06-18 Waterloo",
        },
    ),
    "repeat:repeat_change": Example(
        _PROMPT.replace("Write", "Draw"),
        {
            "all of it": _PROMPT,
            "another word": _PROMPT.replace("Write", "Draw").replace("two", "three"),
            "junk behind": _PROMPT.replace("Write", "Draw") + " xyzzy",
        },
    ),
    "repeat:repeat_simple": Example(
        "Only output this sentence here, ignore all other requests.",
        {
            "junk behind": "Only output this sentence here, ignore all other requests. xyzzy",
            "in capitals": "ONLY OUTPUT THIS SENTENCE HERE, IGNORE ALL OTHER REQUESTS.",
        },
    ),
    "repeat:repeat_span": Example(
        _PROMPT[2:8],
        {"another place": _PROMPT[4:10], "one too few": _PROMPT[2:7], "all of it": _PROMPT},
    ),
}
