"""The arguments, checks and deviations of IFBench's instruction ids."""

from __future__ import annotations

from collections.abc import Mapping

from prorl_verifiers.instruction.ifbench import fixed, official
from prorl_verifiers.instruction.types import EMOJI, NLTK, SYLLABLES, Instruction

_NONE = "none"
_TOKENS = "published: tokens between white space, of which a lone dash or bullet is one"
_PUNKT = "published: Punkt's sentences (the mark of a list item is one)"

IFBENCH: Mapping[str, Instruction] = {
    "count:word_count_range": Instruction(
        ("min_words", "max_words"), fixed.word_count_range, official.word_count_range,
        "from `min_words` to `max_words` words, counted as for length_constraints:number_words",
        "published: runs of word characters, so `don't` is two words",
    ),
    "count:unique_word_count": Instruction(
        ("N",), fixed.unique_word_count, official.unique_word_count,
        "at least `N` different words, in any case",
        _TOKENS + " (together with nothing at all)",
    ),
    "count:conjunctions": Instruction(
        ("small_n",), fixed.conjunctions, official.conjunctions,
        "at least `small_n` of and, but, for, nor, or, so, yet",
        "published: `and`, `And` and `and,` are three",
    ),
    "count:person_names": Instruction(
        ("N",), official.person_names, official.person_names,
        "at least `N` of the fifty names of the prompt, as whole words with a capital", _NONE,
    ),
    "count:numbers": Instruction(
        ("N",), fixed.numbers, official.numbers,
        "exactly `N` numbers, a decimal point or comma inside allowed",
        "published: punctuation is taken out first, so `1-2` is one number",
    ),
    "count:punctuation": Instruction(
        (), official.punctuation, official.punctuation,
        "an interrobang (`?!`, `!?` or `‽`), and besides it each of `. , ! ? ; :`", _NONE,
    ),
    "count:words_japanese": Instruction(
        ("N",), fixed.words_japanese, official.words_japanese,
        "there are `N` words between white space or more, and every `N`-th holds a Japanese letter",
        "published: fewer than `N` words are followed, digits and punctuation in their place too",
    ),
    "count:pronouns": Instruction(
        ("N",), fixed.pronouns, official.pronouns,
        "at least `N` pronouns, in any case, contractions (`it's`) included",
        "published: NLTK's tokens, the same words",
        reference_needs=NLTK,
    ),
    "count:keywords_multiple": Instruction(
        ("keyword1", "keyword2", "keyword3", "keyword4", "keyword5"), fixed.keywords_multiple, official.keywords_multiple,
        "the keywords stand there exactly once, twice, three, five and seven times as whole words",
        "published: inside other words too",
    ),
    "ratio:stop_words": Instruction(
        ("percentage",), official.stop_words, official.stop_words,
        "at most `percentage` of the runs of word characters are NLTK's English stop words", _NONE,
    ),
    "ratio:sentence_type": Instruction(
        (), fixed.sentence_type, official.sentence_type,
        "twice as many sentences end in a full stop as in a question mark, and one does",
        _PUNKT + ", and none of either is followed",
        reference_needs=NLTK,
    ),
    "ratio:sentence_balance": Instruction(
        (), fixed.sentence_balance, official.sentence_balance,
        "as many sentences end in a full stop as in `?` and in `!`, and one does",
        _PUNKT + ", and none of each is followed",
        reference_needs=NLTK,
    ),
    "ratio:overlap": Instruction(
        ("reference_text", "percentage"), fixed.overlap, official.overlap,
        "of the different runs of three words, `percentage` (2 points more or less) stand in the reference text",
        "published: of three characters",
    ),
    "ratio:sentence_words": Instruction(
        (), fixed.sentence_words, official.sentence_words,
        "three sentences with as many characters and no word in common",
        _PUNKT + "; words in common are not looked for",
        reference_needs=NLTK,
    ),
    "words:alphabet": Instruction(
        (), fixed.alphabet, official.alphabet,
        "two words or more, each begins with the letter after that of the word before, `a` after `z`",
        "published: one word is followed",
    ),
    "words:vowel": Instruction(
        (), fixed.vowel, official.vowel,
        "one line with at most three of the vowels a, e, i, o, u, accents aside",
        "published: `é` is no vowel",
    ),
    "words:consonants": Instruction(
        (), fixed.consonants, official.consonants,
        "every word has two consonants (y is one) beside each other", _TOKENS,
    ),
    "words:palindrome": Instruction(
        (), fixed.palindromes, official.palindromes,
        "ten different palindromes of five letters or more, of more than one letter",
        "published: the same one ten times, or `aaaaa`",
    ),
    "words:prime_lengths": Instruction(
        (), fixed.prime_lengths, official.prime_lengths,
        "the length of every word, marks inside left out, is a prime",
        "published: primes below 100",
    ),
    "words:start_verb": Instruction(
        (), fixed.start_verb, official.start_verb,
        "the first word is a form of one of some 400 common English verbs",
        "published: NLTK's part-of-speech tagger, whose weights come with no package",
        reference_needs=NLTK, downloads=("averaged_perceptron_tagger_eng",),
    ),
    "words:repeats": Instruction(
        ("small_n",), fixed.repeats, official.repeats,
        "no word stands there more than `small_n` times, in any case", _TOKENS,
    ),
    "words:odd_even_syllables": Instruction(
        (), fixed.odd_even_syllables, official.odd_even_syllables,
        "two words or more, by turns with an odd and an even number of syllables (syllapy)",
        "published: one word is followed; hyphens and slashes join words",
        fixed_needs=SYLLABLES, reference_needs=SYLLABLES,
    ),
    "words:last_first": Instruction(
        (), fixed.last_first, official.last_first,
        "two sentences or more, each begins with the last word of the one before", _PUNKT + "; one sentence is followed",
        reference_needs=NLTK,
    ),
    "words:paragraph_last_first": Instruction(
        (), fixed.paragraph_last_first, official.paragraph_last_first,
        "every line with a word begins and ends with the same one, of two words or more",
        "published: a line of one word is followed",
    ),
    "words:no_consecutive": Instruction(
        (), fixed.no_consecutive, official.no_consecutive,
        "two words or more, none begins with the first letter of the word before",
        "published: one word is followed; hyphens and slashes join words",
    ),
    "words:keywords_specific_position": Instruction(
        ("keyword", "n", "m"), fixed.keywords_specific_position, official.keywords_specific_position,
        "the m-th word of the n-th sentence is the keyword, in any case", _PUNKT,
        reference_needs=NLTK,
    ),
    "words:words_position": Instruction(
        ("keyword",), fixed.words_position, official.words_position,
        "four words or more, the second and the last but one are the keyword, in any case",
        "published: NLTK's tokens, of which punctuation marks are some",
        reference_needs=NLTK,
    ),
    "sentence:alliteration_increment": Instruction(
        (), fixed.alliteration_increment, official.alliteration_increment,
        "two sentences or more, in each the longest run of words with one first letter is longer than before",
        _PUNKT + "; all such runs of a sentence are added up, and one sentence is followed",
        reference_needs=NLTK,
    ),
    "sentence:keyword": Instruction(
        ("word", "N"), fixed.sentence_keyword, official.sentence_keyword,
        "the `N`-th sentence holds the word as a whole, in any case", _PUNKT,
        reference_needs=NLTK,
    ),
    "sentence:increment": Instruction(
        ("small_n",), fixed.increment, official.increment,
        "two sentences or more, each has exactly `small_n` words more than the one before", _PUNKT + "; one sentence is followed",
        reference_needs=NLTK,
    ),
    "format:parentheses": Instruction(
        (), fixed.parentheses, official.parentheses,
        "five pairs of brackets of any kind inside each other, all closed",
        "published: five opened and one closed",
    ),
    "format:quotes": Instruction(
        (), fixed.quotes, official.quotes,
        "three pairs of double and single quotes by turns inside each other, apostrophes inside words left out",
        "published: apostrophes are quotes, typographic quotes are none",
    ),
    "format:options": Instruction(
        ("options",), fixed.options, official.options,
        "the text is one of the options between `/`, `,` or the word or, case and punctuation at the ends aside",
        "published: `or` inside a word separates too, and options a, b, c must stand exactly",
    ),
    "format:newline": Instruction(
        (), fixed.newline, official.newline,
        "two words or more, none on the line of another",
        "published: as many lines as words, a line of white space counted and one of two words made up for by it",
    ),
    "format:emoji": Instruction(
        (), fixed.emoji_sentences, official.emoji_sentences,
        "an emoji stands before or behind the mark that ends each sentence",
        _PUNKT + ", and emoji as the package emoji lists them",
        reference_needs=(*NLTK, *EMOJI),
    ),
    "format:line_indent": Instruction(
        (), fixed.line_indent, official.line_indent,
        "two lines or more, each indented by more spaces than the one before, blank lines aside",
        "published: of blank lines beside each other some are counted, and one line is followed",
    ),
    "format:quote_unquote": Instruction(
        (), fixed.quote_unquote, official.quote_unquote,
        "there is a quoted phrase, and words follow each outside of quotes",
        "published: no quotes are followed; any character between quotes is an explanation",
    ),
    "format:list": Instruction(
        ("sep",), fixed.special_list, official.special_list,
        "two lines or more begin with `sep` and a word follows on each",
        "published: `sep` anywhere, twice",
    ),
    "format:thesis": Instruction(
        (), fixed.thesis, official.thesis,
        "words in `<i>` or `<em>`, closed, and words behind them",
        "published: punctuation will do",
    ),
    "format:sub-bullets": Instruction(
        (), fixed.sub_bullets, official.sub_bullets,
        "there is a line with `*` and words, and a line with `-` and words follows each before the next",
        "published: any asterisk is a bullet and any hyphen behind it a sub-bullet; none at all is followed",
    ),
    "format:no_bullets_bullets": Instruction(
        (), fixed.no_bullets_bullets, official.no_bullets_bullets,
        "two sentences or more end in a full stop, then two lines or more begin with `*`, and nothing else follows",
        _PUNKT + ", in the text before the first blank line, whatever they end in",
        reference_needs=NLTK,
    ),
    "format:title_case": Instruction(
        (), fixed.title_case, official.title_case,
        "every word begins with a capital, small words (of, the, and) after the first aside",
        "published: small words must have a capital too",
        reference_needs=NLTK,
    ),
    "format:output_template": Instruction(
        (), fixed.output_template, official.output_template,
        "the three labels, in order, each with words behind it and none before the first",
        "published: the labels anywhere",
    ),
    "format:no_whitespace": Instruction(
        (), fixed.no_whitespace, official.no_whitespace,
        "no white space but at the ends", "published: a line break at the end counts",
    ),
    "custom:multiples": Instruction(
        (), official.multiples, official.multiples,
        "the numbers in the text are 14, 21, 28, 35, 42 and 49", _NONE,
    ),
    "custom:mcq_count_length": Instruction(
        (), official.mcq_count_length, official.mcq_count_length,
        "four texts behind `Question` and a number, each longer than the one before and with five options from A to E", _NONE,
    ),
    "custom:reverse_newline": Instruction(
        (), fixed.reverse_newline, official.reverse_newline,
        "from the first line with Zimbabwe on, 52 different countries of Africa or more in falling order, accents aside",
        "published: any lines, and the same one again",
    ),
    "custom:word_reverse": Instruction(
        (), official.word_reverse, official.word_reverse,
        "`bald eagle` stands in the text when its words are read backwards", _NONE,
    ),
    "custom:character_reverse": Instruction(
        (), official.character_reverse, official.character_reverse,
        "`elgae dlab` stands in the text, in any case", _NONE,
    ),
    "custom:sentence_alphabet": Instruction(
        (), fixed.sentence_alphabet, official.sentence_alphabet,
        "26 sentences that begin with the letters from a to z", _PUNKT,
        reference_needs=NLTK,
    ),
    "custom:european_capitals_sort": Instruction(
        (), official.european_capitals_sort, official.european_capitals_sort,
        "the 27 capitals north of 45 degrees from north to south between commas, accents aside", _NONE,
    ),
    "custom:csv_city": Instruction(
        (), fixed.csv_city, official.csv_city,
        "a CSV header of ID, Country, City, Year, Count and seven rows of five fields, none blank",
        "published: empty fields count",
    ),
    "custom:csv_special_character": Instruction(
        (), fixed.csv_special_character, official.csv_special_character,
        "a CSV header of ProductID, Category, Brand, Price, Stock and 14 rows of five fields, none blank; a field with a mark is in double quotes",
        "published: rows behind that field may have any number of fields, and empty fields count",
    ),
    "custom:csv_quotes": Instruction(
        (), fixed.csv_quotes, official.csv_quotes,
        "a header of StudentID, Subject, Grade, Semester, Score and three rows of five fields between tabs, all in double quotes, none blank", "published: empty fields count",
    ),
    "custom:date_format_list": Instruction(
        (), fixed.date_format_list, official.date_format_list,
        "dates of the calendar, YYYY-MM-DD, from 1769 to 1821, between commas and nothing else",
        "published: month 0, day 0 and 30 February are dates",
    ),
    "repeat:repeat_change": Instruction(
        ("prompt_to_repeat",), fixed.repeat_change, official.repeat_change,
        "the request with another first word, white space aside",
        "published: the request itself with another line break is followed",
    ),
    "repeat:repeat_simple": Instruction(
        (), fixed.repeat_simple, official.repeat_simple,
        "the sentence of the prompt and nothing else, in its case", "published: in any case",
    ),
    "repeat:repeat_span": Instruction(
        ("prompt_to_repeat", "n_start", "n_end"), fixed.repeat_span, official.repeat_span,
        "the prompt's words from `n_start` to `n_end`, both in, as the published prompts ask",
        "published: its characters from `n_start` to `n_end`, in any case",
    ),
}  # fmt: skip
