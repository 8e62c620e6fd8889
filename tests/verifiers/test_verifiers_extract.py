import gzip
import json
from pathlib import Path

import pytest

from prorl_sandbox import LANGUAGES
from prorl_verifiers.code.reference import read_language
from prorl_verifiers.extract import (
    after_thinking,
    answer_line,
    last_boxed,
    last_code_block,
    last_tag,
)


def test_only_text_after_the_last_closed_thinking_counts() -> None:
    assert after_thinking("<think>a</think>b<think>c</think> d") == " d"


@pytest.mark.parametrize(
    "text",
    [
        "just text",
        "print('<analysis>')",
        "a, b = s.split('<reasoning>')",
        "re.findall('<thought>(.*)</thought>', s)",
        "An </analysis> tag, then <analysis>",
    ],
)
def test_without_a_thinking_section_the_whole_response_counts(text: str) -> None:
    assert after_thinking(text) == text


@pytest.mark.parametrize("text", ["<think>\\boxed{1}", "<think>a</think>b<think>\\boxed{1}"])
def test_thinking_never_closed_leaves_nothing(text: str) -> None:
    assert after_thinking(text) is None


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        (r"\boxed{1} then \boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{\{1,2\}}", r"\{1,2\}"),
        (r"\boxed {7} as \boxed says", "7"),
        (r"\boxed{\boxed{5}}", "5"),
        (r"\boxed{\boxed x+1}", "x +1"),
        (r"\fbox{7}", "7"),
        (r"\boxed{}", ""),
        (r"\boxed{1} and \boxed{2", None),
        ("no box", None),
    ],
)
def test_the_last_box_is_read_with_matched_braces(text: str, inner: str | None) -> None:
    assert last_boxed(text) == inner


def test_boxes_of_other_graders_cases_are_read_alike(test_data: Path) -> None:
    path = test_data / "verifier" / "grader_unit_cases_sample.jsonl.gz"
    with gzip.open(path, "rt") as file:
        cases = [json.loads(line) for line in file]
    boxes = [case for case in cases if case["function"] == "last_boxed_only_string"]
    assert len(boxes) >= 8
    for case in boxes:
        wanted = case["expected"]
        assert last_boxed(case["args"][0]) == (
            None if wanted is None else wanted[wanted.find("{") + 1 : -1]
        )


def test_the_last_closed_tag_counts() -> None:
    assert last_tag("<answer>1</answer> <answer> 2 </answer> <answer>3") == "2"
    assert last_tag("<answer>1") is None


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("It is so. Final Answer: The final answer is $12$.", "The final answer is $12$"),
        ("$x+y = 3$ therefore answer is $1$", "1"),
        ("If so, then the answer is 5", None),
        ("It is not true and the answer is 5", None),
        ("Do not write $x$ answer is 5", None),
        ("Answer: 5<|im_end|>\n<|im_start|>user", "5"),
        ("work\nAnswer: B", "B"),
        ("Answer: 6\n\nThank you!", "6"),
        ("**Answer:** 6\n\nI hope this helps!\n\nBest regards", "6"),
        ("The answer is 6.\n\nLet me know if you have any questions.", "6"),
        ("Answer: 6\n---\nHave a great day!", "6"),
        ("Final answer: 6\n\nGood luck with your exam :)", "6"),
        ("Answer: 6\n\nQ.E.D.", "6"),
        ("Answer: 6\n\nI hope this helps, but it may be wrong.", None),
        ("Answer: 6\n\nThanks, though 7 works as well.", None),
        ("Answer: 6\n\nThanks", "6"),
        ("Answer: 6\n\nHope dies last", None),
        ("**Final Answer:** 4.2 m\n\n", "4.2 m"),
        ("The answer is 12", "12"),
        ("Therefore, the answer is $5$.", "5"),
        ("So the final answer is 5", "5"),
        ("Hence, the answer is: \\(5\\).", "5"),
        ("The result is $\\frac12$.", "\\frac12"),
        ("**Final Answer**: 5", "5"),
        ("**The answer is 0.5.**", "0.5"),
        ("I think the answer is 5", None),
        ("Answer: B\nbut then again", None),
    ],
)
def test_a_last_line_may_name_the_answer(line: str, answer: str | None) -> None:
    assert answer_line(line) == answer


IN_LIST = "1. First:\n   ```python\n   def f(x):\n       return x\n   ```\n2. Done."
DOCSTRING = 'def f():\n    """Use:\n```\nf()\n```\n    and\n    ```python\n    f()\n    ```\n    """\n    return 1'
UNCLOSED = 'def f():\n    """no end'
QUOTES = "x = '```'\ny = \"it's '''\""


@pytest.mark.parametrize(
    ("text", "language", "block"),
    [
        ("```python\na\n```\n```py\nb\n```\n```\noutput\n```", "python", "b"),
        ("```python\na = 1", "python", None),
        ("```\nx\n```\n```python\ny", "python", "x"),
        ("```cpp\nint main;\n```", "python", None),
        ("```C++\na\n```\n```python\nb\n```\n```\noutput\n```", "cpp", "a"),
        ("```C++\na\n```\n```python\nb\n```\n```\noutput\n```", "python", "b"),
        ("```C++\na\n```\n```python\nb\n```\n```\noutput\n```", "javascript", "output"),
        ("```{.python}\na\n```", "python", "a"),
        ("``` {.python .numberLines}\na\n```", "python", "a"),
        ("```python:main.py\na\n```", "python", "a"),
        ("```{=html}\na\n```", "python", None),
        ("\ufeff```python\n\ufeffdef ask(): 1\n```\n```python\na\n```", "python", "def ask(): 1"),
        (IN_LIST, "python", "def f(x):\n    return x"),
        ("- ```py\n  a\n    b\n  ```", "python", "a\n  b"),
        ("    ~~~python\na\n b\n    ~~~", "python", "a\n b"),
        (f"```python\n{DOCSTRING}\n```\nso", "python", DOCSTRING),
        (f"```python\n{QUOTES}\n```\n```\nz\n```", "python", QUOTES),
        (
            f"```python\n{UNCLOSED}\n```\nOr:\n```python\nb = '''c'''\n```\n",
            "python",
            "b = '''c'''",
        ),
        (f"```python\n{UNCLOSED}\n```\nOr so.", "python", UNCLOSED),
        ("```python\ndef ask(): 1\n```\n```python\nask()\n```", "python", "def ask(): 1"),
        ("```python\ndef ask(): 1\n```\n```python\nask = 2\n```", "python", "ask = 2"),
        ("```\ndef ask(): 1\n```\n```python\nprint(ask() == 1)\n```", "python", "def ask(): 1"),
        ("```js\nconst ask = 1\n```\n```js\nask()\n```", "javascript", "const ask = 1"),
    ],
)
def test_the_last_closed_block_that_defines_what_was_asked_for_is_taken(
    text: str, language: str, block: str | None
) -> None:
    assert last_code_block(text, LANGUAGES.get(language).marks, {"ask"}) == block


@pytest.mark.parametrize(
    ("given", "language"),
    [
        (None, "python"),
        ("Python3", "python"),
        ("py", "python"),
        ("C++", "cpp"),
        ("c++17", "cpp"),
        (" JS ", "javascript"),
        ("nodejs", "javascript"),
    ],
)
def test_languages_go_by_several_names(given: str | None, language: str) -> None:
    assert read_language(given).name == language


@pytest.mark.parametrize(
    "unit", ["\\boxed{", "<answer>", "```python\n", "{", "\\boxed ", "</think", "\n"]
)
def test_ten_megabytes_are_searched_in_linear_time(unit: str) -> None:
    text = unit * (10_000_000 // len(unit))  # a quadratic search would not end
    for search in (after_thinking, last_boxed, last_tag, answer_line, last_code_block):
        assert search(text) in (None, text, "")


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("```" + " " * 200_000 + "`", None),
        (" ```py\n\"\"\"#'''\n\"\"\" '''\n```\n" * 20_000 + "```py", "\"\"\"#'''\n\"\"\" '''"),
    ],
)
def test_fences_are_searched_in_linear_time(text: str, block: str | None) -> None:
    assert last_code_block(text) == block


@pytest.mark.parametrize("before", [0, 65_530, 65_536, 65_540, 131_070, 200_000])
@pytest.mark.parametrize("mark", ["\\boxed{7}", "\\fbox    \n   {7}"])
def test_the_last_box_is_found_wherever_it_stands(before: int, mark: str) -> None:
    assert last_boxed("\\boxed{1}" + "a" * 99 + mark + "b" * before) == "7"
