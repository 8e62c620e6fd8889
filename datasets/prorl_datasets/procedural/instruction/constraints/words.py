"""Constraints on words, letters, case, language and length (11 of IFEval's 25 ids)."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.instruction.drawn import Context, Drawn, Kind, counted, listed
from prorl_datasets.procedural.instruction.languages import NAMES
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

_KEYWORDS = (
    "garden river winter market bridge silver letter forest window morning planet island "
    "basket candle harbour lantern meadow compass ribbon thunder velvet copper marble blanket "
    "kettle ladder anchor feather pebble orchard saddle tunnel violet whisper journey balance "
    "courage mirror shadow signal treasure village voyage wisdom harvest horizon curtain "
    "engine fabric gallery hammer insect jacket kingdom lemon magnet needle oxygen pillow "
    "quarter rocket sandal temple uncle vessel wagon yellow zebra autumn barrel cabin dancer "
    "eagle falcon giant helmet icicle jungle knight lizard mountain notebook ocean parade "
    "rabbit sailor tiger umbrella valley walnut acrobat bakery castle diamond emerald "
    "fountain glacier hotel ivory jewel carpenter energy science budget climate culture "
    "freedom justice memory protein traffic vaccine"
)
KEYWORDS = tuple(_KEYWORDS.split())
_FORBIDDEN = (
    "good people time way simple small best many work first story learn great clear answer day "
    "life world right start never always very really thing problem important however because "
    "people more make help love need best easy hard"
)
FORBIDDEN = tuple(dict.fromkeys(_FORBIDDEN.split()))


def _existence(rng: Random, context: Context) -> Drawn:
    words = rng.sample(KEYWORDS, rng.randint(2, 3 + (context.level > 1)))
    ask = WORDINGS.draw(rng, "existence", w=listed(words, "and"))
    return Drawn("keywords:existence", {"keywords": words}, ask, True)


def _frequency(rng: Random, context: Context) -> Drawn:
    least = rng.random() < 0.75
    word = rng.choice(KEYWORDS if least else FORBIDDEN)
    number = rng.randint(2, 3 + 2 * context.level) if least else rng.randint(2, 4)
    relation = "at least" if least else "less than"
    ask = WORDINGS.draw(rng, "frequency", w=word, r=_relation(rng, least), n=number)
    kwargs = {"keyword": word, "relation": relation, "frequency": number}
    return Drawn("keywords:frequency", kwargs, ask, least)


def _forbidden(rng: Random, context: Context) -> Drawn:
    words = rng.sample(FORBIDDEN, rng.randint(2, 3 + context.level))
    ask = WORDINGS.draw(rng, "forbidden", w=listed(words, "or"))
    return Drawn("keywords:forbidden_words", {"forbidden_words": words}, ask)


def _letter(rng: Random, context: Context) -> Drawn:
    least = rng.random() < 0.8
    letter = rng.choice("bcdfghjkmpquvwxyz" if least else "bfgjkpqvwxz")
    number = rng.randint(4, 8 * context.level) if least else rng.randint(3, 8)
    relation = "at least" if least else "less than"
    ask = WORDINGS.draw(rng, "letter", c=letter, r=_relation(rng, least), n=number)
    kwargs = {"letter": letter, "let_relation": relation, "let_frequency": number}
    return Drawn("keywords:letter_frequency", kwargs, ask)


def _language(rng: Random, context: Context) -> Drawn:
    code = rng.choice(tuple(NAMES))
    ask = WORDINGS.draw(rng, "language", x=NAMES[code])
    return Drawn("language:response_language", {"language": code}, ask, True)


def _relation(rng: Random, least: bool) -> str:
    return rng.choice(("at least",) if least else ("less than", "fewer than"))


def _sentences(rng: Random, context: Context) -> Drawn:
    least = rng.random() < 0.6
    number = rng.randint(5, 8 + 5 * context.level) if least else rng.randint(4, 12)
    ask = WORDINGS.draw(rng, "sentences", r=_relation(rng, least), n=counted(number, "sentence"))
    relation = "at least" if least else "less than"
    kwargs = {"relation": relation, "num_sentences": number}
    return Drawn("length_constraints:number_sentences", kwargs, ask)


def _words(rng: Random, context: Context) -> Drawn:
    least = rng.random() < 0.6
    number = rng.randint(6, 15 + 10 * context.level) * 10 if least else rng.randint(8, 25) * 10
    number += rng.randint(-5, 5)
    ask = WORDINGS.draw(rng, "words", r=_relation(rng, least), n=number)
    relation = "at least" if least else "less than"
    return Drawn(
        "length_constraints:number_words", {"relation": relation, "num_words": number}, ask
    )


def _capital_words(rng: Random, context: Context) -> Drawn:
    least = rng.random() < 0.75
    number = rng.randint(2, 4 + 4 * context.level) if least else rng.randint(3, 9)
    ask = WORDINGS.draw(rng, "capital words", r=_relation(rng, least), n=number)
    relation = "at least" if least else "less than"
    kwargs = {"capital_relation": relation, "capital_frequency": number}
    return Drawn("change_case:capital_word_frequency", kwargs, ask)


def _upper(rng: Random, context: Context) -> Drawn:
    return Drawn("change_case:english_capital", {}, WORDINGS.draw(rng, "upper"))


def _lower(rng: Random, context: Context) -> Drawn:
    return Drawn("change_case:english_lowercase", {}, WORDINGS.draw(rng, "lower"))


def _no_comma(rng: Random, context: Context) -> Drawn:
    return Drawn("punctuation:no_comma", {}, WORDINGS.draw(rng, "no comma"))


def word_kinds() -> tuple[Kind, ...]:
    return (
        Kind("keywords:existence", _existence, True),
        Kind("keywords:frequency", _frequency),
        Kind("keywords:forbidden_words", _forbidden),
        Kind("keywords:letter_frequency", _letter),
        Kind("language:response_language", _language, True),
        Kind("length_constraints:number_sentences", _sentences),
        Kind("length_constraints:number_words", _words),
        Kind("change_case:capital_word_frequency", _capital_words),
        Kind("change_case:english_capital", _upper),
        Kind("change_case:english_lowercase", _lower),
        Kind("punctuation:no_comma", _no_comma),
    )
