from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from doubles import Messages

from prorl_common import plugins
from prorl_datasets import BuildOptions, Recipe, build, load, verify_dataset
from prorl_datasets.building.gold import PromptedRow, as_prompted
from prorl_datasets.candidate import Candidate
from prorl_datasets.rows.client import RowClient, Setting
from prorl_datasets.types import DOMAINS
from prorl_verifiers import VERIFIERS, Task, VerifierPool

PLUGIN = """
from prorl_verifiers import DataShape, VerifierSpec

SHOUTED = VerifierSpec(
    name="shouted", score=lambda response, reference: response == reference["answer"].upper(),
    data=DataShape("Shout! {question}", example={"answer": "a"}, write=lambda answer, reference: answer.upper()),
)
SILENT = VerifierSpec(
    name="silent", score=lambda response, reference: response == reference["answer"],
    data=DataShape(example={"answer": "a"}),
)
CURLY = VerifierSpec(
    name="curly", score=lambda response, reference: response == "{" + reference["answer"] + "}",
    data=DataShape(
        "{question} Write the answer in {{}}.", example={"answer": "a"},
        write=lambda answer, reference: "{" + answer + "}",
    ),
)
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plug-in file that is loaded for this test only."""
    monkeypatch.setattr(plugins, "_LOADED", plugins._Loaded())
    monkeypatch.setattr(VERIFIERS, "_generation", -1)
    path = tmp_path / "own.py"
    path.write_text(PLUGIN)
    plugins.use_plugins([path])
    return path


def example_row(verifier: str) -> Mapping[str, Any]:
    example = dict(
        VERIFIERS.get(verifier).data.example
        or {"answer": "a", "tests": [{"stdin": "", "stdout": ""}]}
    )
    return {"prompt": "What is it?", **example}


def entry(name: str, domain: str, verifier: str) -> str:
    return (
        f"  - {{name: {name}, domain: {domain}, verifier: {verifier}, source: {{kind: file, path: rows.jsonl}}, "
        "count: {train: all}}\n"
    )


HEAD = "name: x\ndecontamination: {benchmarks: []}\nplugins: [own.py]\nentries:\n"


def test_the_row_workers_put_each_verifiers_question_as_that_verifier_wants_it_in_every_domain(
    plugin: Path, make_recipe: Callable[[str], Recipe]
) -> None:
    names = [name for name in VERIFIERS.names() if name != "judge"]
    assert {"shouted", "silent", "exact_match", "math", "composite"} <= {*names}
    domains = [*DOMAINS, "shouted", "silent"]
    pairs = {f"e{at}": (d, v) for at, (d, v) in enumerate((d, v) for d in domains for v in names)}
    recipe = make_recipe(HEAD + "".join(entry(name, d, v) for name, (d, v) in pairs.items()))
    with RowClient() as worker:
        worker.set_up(Setting(recipe, 1))
        made = {
            name: worker.convert(name, [[0, "rows.jsonl:1", example_row(verifier)]])[0]
            for name, (_, verifier) in pairs.items()
        }
    prompts = {name: one.prompt for name, one in made.items() if isinstance(one, Candidate)}
    assert prompts == {
        name: VERIFIERS.get(verifier).data.prompt.format(question="What is it?")
        for name, (_, verifier) in pairs.items()
    }


def test_a_recipe_read_again_from_its_record_gives_the_same_prompts(
    plugin: Path, make_recipe: Callable[[str], Recipe]
) -> None:
    text = (
        HEAD
        + entry("a", "math", "exact_match")
        + entry("b", "stem", "math")
        + entry("c", "stem", "stem")
    )
    recipe = make_recipe(text.replace("entries:", "prompts: {stem: 'Q: {question}'}\nentries:"))
    again = Recipe.model_validate(recipe.resolved())
    asked = [recipe.prompt_for(e, e.scored_by) for e in recipe.entries]
    assert asked == ["{question}", "Q: {question}", "Q: {question}"]
    assert [again.prompt_for(e, e.scored_by) for e in again.entries] == asked
    assert again.digest() == recipe.digest()


def test_an_entry_whose_source_makes_tasks_of_another_verifier_than_it_names_is_refused(
    make_recipe: Callable[[str], Recipe],
) -> None:
    recipe = make_recipe(
        "name: x\nentries:\n  - {name: a, domain: math, verifier: exact_match, "
        "source: {kind: procedural, family: add}, count: {train: 3}}\n"
    )
    with RowClient() as worker, pytest.raises(Exception, match=r"'a'.*math.*exact_match"):
        worker.set_up(Setting(recipe, 1))
        worker.generate("a", "train", 0, 1)


MATH = Task("math", {"answer": "42"})
BOXED = r"The answer is \boxed{42}"


@pytest.mark.parametrize(
    ("prompt", "gold", "task", "written"),
    [
        ("6 x 7? Answer within \\boxed{}.", BOXED, MATH, None),
        ("6 x 7? Give the answer inside <answer></answer>.", BOXED, MATH, "<answer>42</answer>"),
        ("6 x 7? Use <answer> tags.", BOXED, MATH, "<answer>42</answer>"),
        (
            "First <think> so </think>, then <result> so </result>. 6 x 7?",
            BOXED,
            MATH,
            "<result>42</result>",
        ),
        ("6 x 7? End with #### and the number.", BOXED, MATH, "#### 42"),
        ("6 x 7? End with 'Answer: N'.", BOXED, MATH, "Answer: 42"),
        ("Question: 6 x 7?\nAnswer:", BOXED, MATH, "42"),
        ("6 x 7? Answer with one word.", BOXED, MATH, "42"),
        ("6 x 7?", "42", Task("exact_match", {"answer": "42"}), None),
        ("6 x 7? In \\boxed{}", "42", Task("exact_match", {"answer": "42"}), "\\boxed{42}"),
        ("6 x 7? In \\boxed{}", None, Task("exact_match", {"answer": "42"}), "\\boxed{42}"),
        ("6 x 7?", None, Task("exact_match", {"answer": "42"}), None),
        ("6 x 7? Write the answer in {}.", "{42}", Task("curly", {"answer": "42"}), None),
        ("6 x 7? Say it in a word.", "{42}", Task("curly", {"answer": "42"}), "42"),
        ("Shout! 6 x 7?", "A", Task("shouted", {"answer": "a"}), None),
    ],
)
def test_the_right_answer_is_written_in_the_form_that_the_prompt_names(
    plugin: Path, prompt: str, gold: str | None, task: Task, written: str | None
) -> None:
    assert as_prompted(PromptedRow("r", prompt, gold, task)) == written


def test_a_build_and_verify_warn_once_an_entry_whose_prompt_asks_for_what_earns_nothing(
    plugin: Path, make_recipe: Callable[[str], Recipe], tmp_path: Path, pool: VerifierPool
) -> None:
    rows = [{"prompt": f"Name item {at}", "answer": f"item{at}"} for at in range(300)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = HEAD.replace(
        "entries:", "near_duplicate: 0\nprompts: {math: '{question} Use <answer> tags.'}\nentries:"
    )
    recipe = make_recipe(
        text
        + entry("tags", "math", "exact_match")
        + entry("own", "logic", "silent").replace(
            "name: own", "name: own, template: 'Please: {question}'"
        )
    )
    progress = Messages()
    build(recipe, tmp_path / "d", progress=progress, options=BuildOptions(workers=1))
    assert len(load(tmp_path / "d")) == 300  # equal prompts of two entries count as one problem
    (warning,) = [line for line in progress.lines if line.startswith("WARNING")]
    assert "entry tags: in 300 rows" in warning
    assert "'<answer>item0</answer>' reward 0" in warning
    report = verify_dataset(tmp_path / "d", progress=Messages())
    assert report.ok
    assert {name: unpaid.rows for name, unpaid in report.unpaid.items()} == {"tags": 300}
