from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prorl_verifiers.instruction.audit import examples
from prorl_verifiers.instruction.ifbench.word_lists import CAPITALS
from prorl_verifiers.instruction.registry import registry
from prorl_verifiers.instruction.scorer import follows, score_instruction
from prorl_verifiers.instruction.text import (
    count_sentences,
    count_words,
    folded,
    sentences,
    visible,
)
from prorl_verifiers.libraries import load_library

AT_LEAST = "at least"
CASES: list[tuple[str, dict[str, Any], str, tuple[str, ...]]] = [
    ("keywords:existence", {"keywords": ["red", "two words"]}, "Red: two\nwords!", ("scared two words", "red two")),
    ("keywords:existence", {"keywords": ["C++"]}, "in c++.", ("in c+",)),
    ("keywords:existence", {"keywords": ["猫"]}, "这只猫很小", ("这只狗很小",)),
    ("keywords:frequency", {"keyword": "a.b", "relation": AT_LEAST, "frequency": 2}, "a.b, _a.b_", ("a.b axb",)),
    ("keywords:forbidden_words", {"forbidden_words": ["cat"]}, "concatenate", ("a Cat.",)),
    ("keywords:letter_frequency", {"letter": "#", "let_relation": AT_LEAST, "let_frequency": 2}, "a ## b", ("a # b",)),
    ("language:response_language", {"language": "it"}, "Il gatto dorme sul divano e sogna la luna piena.", ("The cat sleeps on the sofa.", "12 34", "Il gatto dorme sul divano e sogna la luna.\nThe cat sleeps on the sofa and dreams of the moon.")),
    ("length_constraints:number_sentences", {"relation": AT_LEAST, "num_sentences": 2}, "Dr. Lee came. She left", ("1. Dr. Lee came", ". . . . .", "Go on... ! ?")),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "***\na\n***\nb", ("a ***bold*** b", "a\n***\n...", "a\n***\n\n***\nb")),
    ("length_constraints:number_words", {"relation": AT_LEAST, "num_words": 3}, "one two three", ("one _ __ two", "don't stop", "o\u200bne t\u00adwo", "o\u200bn\u200be two")),
    ("length_constraints:nth_paragraph_first_word", {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "two"}, "one\n\n\n\n**Two** more", ("two\n\none", "one\n\ntwofold")),
    ("detectable_content:number_placeholders", {"num_placeholders": 2}, "[name] and [age]", ("[] [ ]", "[a](b) [c](d)")),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, "Bye.\n\n**P.S.** more", ("maps.s. on", "Bye. P.S.", "Add a P.S. at the end")),
    ("detectable_content:postscript", {"postscript_marker": "P.P.S"}, "Bye. P.P.S. more", ("Bye. P.S. more",)),
    ("detectable_format:number_bullet_lists", {"num_bullets": 2}, "* a\n - b\n---", ("* a\n-5\n", "*a*\n* b", "* a\n* b\n+ c")),
    ("detectable_format:constrained_response", {}, "My answer is no.", ("no", "My answer is no. My answer is yes.")),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 2}, "*a b* and **c**", ("* a\n* b\n* c", "*!* *?*", "2 * 3 * 4 * 5")),
    ("detectable_format:multiple_sections", {"section_spliter": "SECTION", "num_sections": 2}, "SECTION 1\na\n## SECTION 2\nb", ("see SECTION 1 and SECTION 2", "SECTION 1\nSECTION 1")),
    ("detectable_format:json_format", {}, '~~~json\n{"a": [1]}\n~~~', ('~~~json\n{"a": [1]}\n```', '~~~json\n{"a": [1]}', '~~json\n{"a": 1}\n~~')),
    ("detectable_format:json_format", {}, '```` json\n[1]\n````', ('````json\n[1]\n```', "```yaml\n[1]\n```")),
    ("detectable_format:json_format", {}, '```JSON\n{"a": [1]}\n```', ("[1", "5", '"a"', "{}", "[NaN]", "[" * 5000)),
    ("detectable_format:title", {}, "<<a title>>", ("<< >>", "<<a\ntitle>>", "<<!>>")),
    ("combination:two_responses", {}, "a\n******\nb", ("a******A", "a*******b", "a******b******c", "...******b")),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Say it"}, "say\nit. Yes", ("yes. say it", "say it", "Say it...")),
    ("startend:end_checker", {"end_phrase": "The end"}, "So. *the end*”", ("So the friend", "the end?")),
    ("startend:quotation", {}, '"hi"', ('"hi', '"!"', '""')),
    ("change_case:capital_word_frequency", {"capital_relation": AT_LEAST, "capital_frequency": 2}, "DON'T go, NASA", ("DON'T go",)),
    ("change_case:english_capital", {}, "HELLO THERE, THIS IS IT", ("Hello There", "BONJOUR MES AMIS DE PARIS", "1234", "XQZW KRTPLM VBNXZ")),
    ("change_case:english_lowercase", {}, "hello there, this is it", ("привет, как дела", "das ist ein kurzer satz")),
    ("punctuation:no_comma", {}, "one and two", ("one, two", "一，二")),
    ("copy:repeat_phrase", {"phrase": "the cat sat down", "small_n": 2}, "The dog sat down; the cat stood down.", ("the dog sat down. the cat sat down", "the dog sat down", "the dog ran down, the cat lay down")),
    ("copy:copy", {"prompt_to_repeat": "Do it now"}, " Do it\nnow ", ("do it now", "Do it now.")),
    ("copy:copying_simple", {"prompt_to_repeat": "Do it now"}, "Do it now", ("Sure: Do it now",)),
    ("copy:copying_multiple", {"prompt_to_repeat": "Do it", "N": 2}, "Do it\n******\nDo it", ("Do it", "Do it***Do it")),
    ("new:copy_span_idx", {"prompt_to_repeat": "abcdef", "n_start": 1, "n_end": 3}, "bcd", ("b", "bcde")),
    ("detectable_format:sentence_hyphens", {}, "One is here.-Two is well-known.", ("One is here.", "One. -Two.", "One is. Two is.", "One.\nTwo.")),
    ("detectable_format:square_brackets", {}, "[A] [word], - [here]", ("[A] word", "[]", "[two words]")),
    ("detectable_format:bigram_wrapping", {}, "<<I am>> <<at home>> <<now>>", ("I", "<<I am at>>", "<<I am>> at home", "<<I>>")),
    ("keywords:no_adjacent_consecutive", {}, "Cats are nice", ("a bee", '"a" "bee"', "alone")),
    ("keywords:word_once", {"keyword": "sun"}, "sun and sunny", ("sun Sun", "sunny")),
    ("keywords:word_count_different_numbers", {"keyword": "sun", "frequency": 2, "relation": AT_LEAST}, "sun sun", ("sun", "sun sun sun")),
    ("keywords:exclude_word_harder", {"keyword": "to"}, "tomorrow", ("Go to.", "TO")),
    ("keywords:palindrome", {}, "It is noon.", ("a I --", "aaa", "abc")),
    ("keywords:palindrome", {}, "He said “Never odd or even!” twice", ("never",)),
    ("keywords:keyword_specific_position", {"keyword": "cat", "n": 2, "m": 2}, "Hi there. The Cat, too.", ("The cat. Hi", "Hi. Cat the")),
    ("keywords:start_end", {}, "Go and go", ("Go and go.", "go", "! a !")),
    ("paragraphs:paragraphs", {}, "a\n***\nb", ("a", "a\n***\nb\n***\nc")),
    ("paragraphs:paragraphs2", {}, "a\n \n\nb", ("a\nb", "a\n\nb\n\nc", "a\n\n...")),
    ("first_word:first_word_sent", {"first_word": "cats"}, "Cats run. “Cats” sit.", ("Cats run. They sit.", "...")),
    ("first_word:first_word_answer", {"first_word": "cats"}, "**Cats**, they run", ("The cats",)),
    ("last_word:last_word_sent", {"last_word": "now"}, "Run now! Sit *now*.", ("Run now. Sit down.",)),
    ("last_word:last_word_answer", {"last_word": "now"}, "Sit now !", ("now sit", "know")),
    ("punctuation:punctuation_dot", {}, "no stop", ("a stop.", "wait…")),
    ("punctuation:punctuation_exclamation", {}, "calm", ("ah!", "啊！")),
    ("count:lowercase_counting", {"N": 1}, "ONE two", ("one two", "!!!")),
    ("letters:letter_counting", {"N": 3, "relation": AT_LEAST}, "abc", ("ab1",)),
    ("letters:letter_counting2", {"letter": "e", "let_relation": "less than", "let_frequency": 2}, "See"[:2], ("See",)),
    ("count:counting_composition", {"n_sent": 1, "n_words": 2}, "One two.\n* * *\nThree four.\n***\nFive six.", ("One two.\n***\nThree four.", "One.\n***\nThree four.\n***\nFive six.")),
    ("count:count_unique", {}, "One, two, three.", ("One one", "?")),
    ("count:count_increment_word", {"keyword1": "sun", "keyword2": "sea"}, "sun sea sea", ("sun sea", "sun sun sea sea")),
    ("count:word_count_range", {"min_words": 2, "max_words": 3}, "I don't know", ("I", "I do not know")),
    ("count:unique_word_count", {"N": 3}, "One two, THREE", ("one One two two", "- ! ?? a")),
    ("count:conjunctions", {"small_n": 2}, "Salt and pepper, or not", ("and And and,",)),
    ("count:person_names", {"N": 2}, "Emma met Liam.", ("Emma met emma", "Emmanuel met Liam")),
    ("count:numbers", {"N": 2}, "1,000 and 2.5", ("1-2-3", "one two", "3")),
    ("count:punctuation", {}, "What?! Yes, no: a; b. c! d?", ("Yes, no: a; b. c! d?", "What?!")),
    ("count:words_japanese", {"N": 2}, "hi 猫 ok - 犬", ("hi", "hi there", "hi 22")),
    ("count:pronouns", {"N": 3}, "It's what she said", ("He said so", "pronouns")),
    ("count:keywords_multiple", {"keyword1": "a1", "keyword2": "b2", "keyword3": "c3", "keyword4": "d4", "keyword5": "e5"}, "a1 b2 b2 c3 c3 c3 " + "d4 " * 5 + "e5 " * 7, ("a1", "a1x b2 b2 c3 c3 c3 " + "d4 " * 5 + "e5 " * 7)),
    ("ratio:stop_words", {"percentage": 50}, "the cat", ("the the cat",)),
    ("ratio:sentence_type", {}, "One is. Two is. Is three?", ("One is. Is two?", "nothing")),
    ("ratio:sentence_balance", {}, "One is. Is two? Three!", ("One is. Is two?", "nothing")),
    ("ratio:overlap", {"reference_text": "a b c d e f", "percentage": 50}, "A b c d, x y", ("a b c d e f", "a b", "x y z x y z")),
    ("ratio:sentence_words", {}, "Cats run. Dogs nap. Cows eat.", ("Cats run. Cats nap. Cows eat.", "Cats run. Dogs nap. A cow eats.", "Cats run.")),
    ("words:alphabet", {}, "Your zebra ate bread", ("Your ate", "a", "1 2")),
    ("words:vowel", {}, "A big red tip", ("a big old red", "a\nb", "á bïg öld red")),
    ("words:consonants", {}, "Nothing - stands", ("Stand up", "A")),
    ("words:palindrome", {}, "level radar civic kayak madam refer rotor solos stats tenet", ("level " * 10, "aaaaa " * 10)),
    ("words:prime_lengths", {}, "She'll win", ("A cat", "four")),
    ("words:start_verb", {}, "**Consider** this", ("This is it", "Table one", "Morning came")),
    ("words:repeats", {"small_n": 1}, "one two", ("one One", "one, one-two one")),
    ("words:odd_even_syllables", {}, "water cat water", ("cat dog", "cat")),
    ("words:last_first", {}, "We saw cats. Cats saw us.", ("We saw cats. Dogs saw us.", "We saw cats.")),
    ("words:paragraph_last_first", {}, "Go and go.\n\n...\nWe like we", ("Go", "Go and stop")),
    ("words:no_consecutive", {}, "one two one", ("two ten", "one", "well-worn")),
    ("words:keywords_specific_position", {"keyword": "cat", "n": 2, "m": 2}, "Hi there. The Cat, too.", ("The cat. Hi",)),
    ("words:words_position", {"keyword": "cat"}, "The cat saw a cat today.", ("The cat saw a dog today.", "The cat today", "The cat")),
    ("sentence:alliteration_increment", {}, "We go. Big boys run. Ten tall trees.", ("We go.", "Big boys. Ten tall.", "Big boys bit. We go.")),
    ("sentence:keyword", {"word": "cat", "N": 2}, "Hi there. The Cat, too.", ("The cat. Hi", "Hi there. Cats too.", "cat")),
    ("sentence:increment", {"small_n": 1}, "We go. We go now.", ("We go.", "We go. You go.", "We go. We all go now.")),
    ("format:parentheses", {}, "a (b [c {d (e [f] e) d} c] b) a", ("(((((a", "(((((a)", "((([[a]]", "(a)(b)(c)(d)(e)")),
    ("format:quotes", {}, "He said, “I heard 'she's in \"X\"' once”.", ('"\'"a', "it's 'a' \"b\"", "don't 'a'")),
    ("format:options", {"options": "tutor or teacher"}, " Teacher. ", ("tutor or teacher", "tut", "none")),
    ("format:newline", {}, "One\n\ntwo,\n- \nthree", ("One two", "One", "One\n \ntwo three")),
    ("format:emoji", {}, "Hi there. 😀 Bye 😀!", ("Hi there. Bye 😀", "Hi", "😀 Hi there.")),
    ("format:line_indent", {}, "a\n\n  b\n   c", ("a\nb", "a", "   a\n b")),
    ("format:quote_unquote", {}, '"Be" means exist, “do” means act.', ("none", '"Be" means "do"', '"Be". "Do" means act')),
    ("format:list", {"sep": "!?!?"}, "So:\n!?!? one\n!?!? two", ("!?!? !?!?", "a !?!? b !?!? c")),
    ("format:thesis", {}, "<em>Cats win.</em> They do.", ("<i>...</i> They do", "<i>Cats win</i>", "Cats win")),
    ("format:sub-bullets", {}, "* one\n - two\n* three\n - four", ("one - two", "* one\n* two\n- three", "*bold* - it is")),
    ("format:no_bullets_bullets", {}, "One is. Two is.\n\n* a\n* b", ("One is.\n* a\n* b", "One is. Two is.\n* a", "One is. Two is.\n* a\n* b\nEnd")),
    ("format:title_case", {}, "The Lord of the Rings", ("The lord", "the Lord", "1 2")),
    ("format:output_template", {}, "My Answer: a My Conclusion: b Future Outlook: c", ("My Answer: My Conclusion: Future Outlook:", "My Conclusion: b My Answer: a Future Outlook: c")),
    ("format:no_whitespace", {}, "one,two\n", ("one two",)),
    ("custom:multiples", {}, "14, 21, 28, 35, 42, 49", ("7, 14, 21, 28, 35, 42, 49", "14")),
    ("custom:mcq_count_length", {}, "\n".join(f"Question {n}\nWhy{'y' * n}?\n" + "\n".join(f"{c}) x" for c in "ABCDE") for n in range(1, 5)), ("Question 1", "none")),
    ("custom:reverse_newline", {}, examples()["custom:reverse_newline"].right, ("Zimbabwe\nAlgeria", "none", "Zimbabwe\n" + "\n".join(f"T{n}" for n in range(99, 40, -1)))),
    ("custom:word_reverse", {}, "Eagle bald the is it", ("It is the bald eagle",)),
    ("custom:character_reverse", {}, "elgae dlab a", ("bald eagle",)),
    ("custom:sentence_alphabet", {}, " ".join(f"{chr(65 + n)}b is." for n in range(26)), ("Ab is.", " ".join("Ab is." for _ in range(26)))),
    ("custom:european_capitals_sort", {}, "Reykjavík, " + ", ".join(CAPITALS[1:]), (", ".join(CAPITALS[1:]), "Oslo")),
    ("custom:csv_city", {}, "ID,Country,City,Year,Count" + "\n1,a,b,2,3" * 7, ("ID,Country,City,Year,Count", "ID,Country,City,Year,Count" + "\n1,a,b,2" * 7, "a\rb")),
    ("custom:csv_special_character", {}, "ProductID,Category,Brand,Price,Stock" + "\n1,a,b,2,3" * 13 + '\n1,"a&b",b,2,3', ("ProductID,Category,Brand,Price,Stock" + "\n1,a,b,2,3" * 14,)),
    ("custom:csv_quotes", {}, "\n".join(['"StudentID"\t"Subject"\t"Grade"\t"Semester"\t"Score"'] + ['"1"\t"a"\t"b"\t"2"\t"3"'] * 3), ("\n".join(['"StudentID"\t"Subject"\t"Grade"\t"Semester"\t"Score"'] + ["1\ta\tb\t2\t3"] * 3),)),
    ("custom:date_format_list", {}, "1796-04-12, 1815-06-18", ("1796-02-30", "1796-00-00", "1950-01-01", "1796-04-12 Montenotte")),
    ("repeat:repeat_change", {"prompt_to_repeat": "Write it down"}, "Say it\ndown", ("Write it down", "Write it\ndown", "Say it up", "Say")),
    ("repeat:repeat_simple", {}, "Only output this sentence here, ignore all other requests.", ("only output this sentence here, ignore all other requests.", "Sure")),
    ("repeat:repeat_span", {"prompt_to_repeat": "one two  three\nfour five", "n_start": 1, "n_end": 3}, "two three four", ("two three", "Two three four", "ne ", "one two three four")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "kwargs", "good", "bad"), CASES)
def test_constraints_tell_good_from_bad(
    name: str, kwargs: dict[str, Any], good: str, bad: tuple[str, ...]
) -> None:
    assert follows(good, name, kwargs)
    assert [text for text in bad if follows(text, name, kwargs)] == []


def test_every_id_has_a_case() -> None:
    assert {name for name, *_ in CASES} == set(registry())


def test_sentences_end_at_marks_but_not_after_abbreviations_or_list_marks() -> None:
    assert count_sentences("Dr. Smith came. He saw J. Doe! And left") == 3
    for text in (
        "He is in the U.S.A. and works.",
        "The U.S. Army. It",
        "J. R. R. Tolkien. Yes",
        "We met at 5 p.m. on Friday.",
        "I like e.g. The Beatles.",
    ):
        assert count_sentences(text) == 1 + text.endswith(("It", "Yes"))
    for text in (
        "I live in the U.S.A. It is big.",
        "Pears, etc. They are fruit.",
        "I said no. It is over.",
        "I chose plan B. It worked.",
    ):
        assert count_sentences(text) == 2
    assert sentences("1. One here.\n2. Two here.\n\na. Three.") == [
        "1. One here.", "2. Two here.", "a. Three.",
    ]  # fmt: skip
    assert count_sentences("好。你好！再见") == 3
    assert count_sentences("") == 0


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "The cat sleeps on the old sofa."), ("es", "El gato duerme en el sofá viejo."),
        ("pt", "O gato dorme no sofá velho e não acorda."), ("fr", "Le chat dort sur le vieux canapé."),
        ("de", "Die Katze schläft auf dem alten Sofa."), ("fi", "Kissa nukkuu vanhalla sohvalla."),
        ("pl", "Kot śpi na starej kanapie."), ("vi", "Con mèo ngủ trên chiếc ghế sofa cũ."),
        ("sw", "Paka analala kwenye sofa ya zamani."), ("ru", "Кошка спит на старом диване."),
        ("uk", "Кішка спить на старому дивані."), ("bg", "Котката спи на стария диван."),
        ("ar", "القطة تنام على الأريكة القديمة."), ("fa", "گربه روی مبل قدیمی می‌خوابد."),
        ("ur", "بلی پرانے صوفے پر سو رہی ہے۔"), ("he", "החתול ישן על הספה הישנה."),
        ("hi", "बिल्ली पुराने सोफे पर सो रही है।"), ("mr", "मांजर जुन्या सोफ्यावर झोपले आहे."),
        ("ne", "बिरालो पुरानो सोफामा सुतिरहेको छ।"), ("bn", "বিড়ালটি পুরনো সোফায় ঘুমাচ্ছে।"),
        ("gu", "બિલાડી જૂના સોફા પર સૂઈ રહી છે."), ("pa", "ਬਿੱਲੀ ਪੁਰਾਣੇ ਸੋਫੇ ਤੇ ਸੌਂ ਰਹੀ ਹੈ।"),
        ("ta", "பூனை பழைய சோபாவில் தூங்குகிறது."), ("te", "పిల్లి పాత సోఫాలో నిద్రపోతోంది."),
        ("kn", "ಬೆಕ್ಕು ಹಳೆಯ ಸೋಫಾದಲ್ಲಿ ಮಲಗಿದೆ."), ("ml", "പൂച്ച പഴയ സോഫയിൽ ഉറങ്ങുന്നു."),
        ("th", "แมวนอนอยู่บนโซฟาเก่า"), ("ko", "고양이가 낡은 소파에서 잔다."),
        ("ja", "猫は古いソファで寝ています。"), ("it", "Il gatto dorme sul vecchio divano."),
        ("zh", "猫睡在旧沙发上。"),
    ],
)  # fmt: skip
def test_each_language_is_told_from_the_others(code: str, text: str) -> None:
    name = "language:response_language"
    assert follows(text, name, {"language": code})
    assert not follows(text, name, {"language": "en" if code != "en" else "sw"})


@pytest.mark.parametrize(
    "text", ["yes", "sw", "12", "language:response_language", "aaaaaaaaaaaaaa"]
)
def test_a_text_that_cannot_be_told_is_in_no_language(text: str) -> None:
    assert not follows(text, "language:response_language", {"language": "sw"})


@pytest.mark.parametrize(
    "text",
    [
        "the c\u200bat", "the c\u00adat", "the c\u2060at", "the ca\ufe0ft", "the c\u034fat", "the c\x00at",
        "the cаt", "the сат"[:6] + "t", "the ｃａｔ", "the 𝐜𝐚𝐭", "the c̶a̶t̶", "THE CАT", "ϲat",
    ],
)  # fmt: skip
def test_a_disguised_word_is_still_that_word(text: str) -> None:
    assert not follows(text, "keywords:forbidden_words", {"forbidden_words": ["cat"]})
    assert not follows(text, "keywords:exclude_word_harder", {"keyword": "cat"})
    less = {"keyword": "cat", "relation": "less than", "frequency": 1}
    assert not follows(text, "keywords:frequency", less)
    assert follows(text, "keywords:word_once", {"keyword": "cat"})


def test_words_of_another_alphabet_are_no_disguise() -> None:
    russian = "В лесу живёт хор, а не сор."
    assert follows(russian, "keywords:forbidden_words", {"forbidden_words": ["xop", "cop"]})
    assert not follows(russian, "keywords:forbidden_words", {"forbidden_words": ["хор"]})
    assert not follows("живёт хoр", "keywords:forbidden_words", {"forbidden_words": ["хор"]})
    assert follows("Un café noir", "keywords:forbidden_words", {"forbidden_words": ["cafe"]})


def test_a_letter_in_disguise_is_counted() -> None:
    few = {"letter": "e", "let_relation": "less than", "let_frequency": 2}
    assert not follows("sее", "keywords:letter_frequency", few)
    assert not follows("ｓｅｅ", "letters:letter_counting2", few)


def test_a_word_hidden_inside_another_is_no_word() -> None:
    assert not follows("con\u200bcat\u200benate", "keywords:existence", {"keywords": ["cat"]})
    assert not follows("the Тhе end"[:7], "count:count_unique", {})


def test_plain_text_is_read_as_it_is() -> None:
    for text in (
        "Plain, text!\n\tTab",
        "naïve Straße",
        "это кот",
        "これは猫です",
        "नमस्ते",
        "😀",
        "٣٤",
    ):
        assert visible(text) == text
        assert folded(text) == text


def test_vowel_signs_do_not_cut_a_word() -> None:
    assert count_words("दश दिनको यात्रा गर्न लागि") == 5


@pytest.mark.parametrize("unit", ["a", "a-", "<", "[", "*", "\n", '"', "a.", "_", "* ", "1. ", "<<a b>>", "P."])  # fmt: skip
def test_every_fixed_check_is_linear_in_the_length(unit: str) -> None:
    text = unit * (60_000 // len(unit))  # a quadratic check would not end
    for name, kwargs, *_ in CASES:
        if not name.startswith(("language:", "change_case:english")):
            assert follows(text + "x", name, kwargs) in (True, False)


@settings(max_examples=60, deadline=None)
@given(
    st.text(alphabet=st.sampled_from("aB .!?,*-_<>[]\"'\n#1。é中"), max_size=60),
    st.sampled_from(CASES),
)
def test_any_text_is_judged_the_same_twice_and_strict_implies_loose(
    text: str, case: tuple[str, dict[str, Any], str, tuple[str, ...]]
) -> None:
    name, kwargs, *_ = case
    strict = follows(text, name, kwargs)
    assert strict == follows(text, name, kwargs)
    reference = {"instruction_id_list": [name], "kwargs": [kwargs]}
    assert not strict or score_instruction(text, reference, load_library).metrics["loose"] == 1.0
    assert not strict or text.strip()
