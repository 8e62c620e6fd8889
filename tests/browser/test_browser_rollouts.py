from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from doubles import TALK
from pyarrow import parquet

from prorl_common.rollout_files import rollout_file, schema

STEPS, PROMPTS, SAMPLES = 12, 6, 4
HOSTILE = (
    "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'>"
    "</script><!-- \u202egnihton\u2066 \u0007 ]]> javascript:alert(1)"
)


def tokenizer(folder: Path) -> None:
    """Write a tokenizer whose tokens are bytes."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(letters)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    folder.mkdir()
    made.save(str(folder / "tokenizer.json"))


def write_step(
    run: Path, step: int, changed: Callable[[dict[str, Any]], None] | None = None
) -> None:
    from tokenizers import Tokenizer

    made = Tokenizer.from_file(str(run.parent / "model" / "tokenizer.json"))
    rows = []
    for number in range(PROMPTS):
        for i in range(SAMPLES):
            right = (number + i + step) % 3 == 0
            text = f"Step {step}: naïve, 2 + {number} = \\boxed{{{2 + number + (not right)}}}"
            row: dict[str, Any] = {
                "step": step,
                "sample_id": f"sum-{number}",
                "sample_index": i,
                "domain": ("math", "logic")[number % 2],
                "task": "sums",
                "verifier": "math",
                "reference": json.dumps({"answer": str(2 + number)}),
                "prompt": json.dumps([{"role": "user", "content": f"What is 2 + {number}?"}]),
                "response": text,
                "tokens": 30 + i * 10,
                "finish_reason": "stop",
                "reward": float(right),
                "shaped_reward": float(right),
                "advantage": float(right) - 0.3,
                "status": "scored",
                "reason": "compared",
                "extracted": str(2 + number + (not right)),
                "isolation": "worker",
                "kept": True,
                "carried": False,
                "policy_first": step - 1,
                "policy_last": step - 1,
            }
            if changed is not None:
                changed(row)
            ids = made.encode(row["response"]).ids if len(row["response"]) < 1000 else []
            row["token_ids"] = ids
            row["sampler_logprobs"] = [-0.01 * (k % 300) for k in range(len(ids))]
            row["trainer_logprobs"] = [-0.01 * (k % 300) - 0.3 * (k == 2) for k in range(len(ids))]
            rows.append(row)
    file = rollout_file(run, step)
    file.parent.mkdir(parents=True, exist_ok=True)
    work = file.with_name(f".{file.name}")
    parquet.write_table(pa.Table.from_pylist(rows, schema=schema()), work)
    work.replace(file)


def write_twelve_steps(root: Path) -> Path:
    tokenizer(root / "model")
    folder = root / "run"
    folder.mkdir()
    config = {"model": {"path": str(root / "model")}}
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    (folder / "identity.json").write_text("{}")
    (folder / "metrics.jsonl").write_text('{"step": 1, "reward_mean": 0.5}\n')
    for step in range(1, STEPS + 1):
        write_step(folder, step)
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of twelve steps that no test changes."""
    return write_twelve_steps(tmp_path_factory.mktemp("rollouts"))


@pytest.fixture
def own_run(run: Path, tmp_path: Path) -> Path:
    """A run of twelve steps that only this test changes."""
    return write_twelve_steps(tmp_path)


def rollouts(address: str, query: str = "") -> str:
    return f"{address}#/run/rollouts?list=responses&{query}"


def rows(page: Any) -> list[str]:
    """Return the text of the list's rows, which start with step and sample index."""
    found: list[str] = page.locator(".rollout-rows tbody tr[data-at]").all_inner_texts()
    return found


def test_the_list_is_filtered_by_link_and_by_hand_and_the_address_keeps_it(
    run: Path, serve: Any, look: Any, accessible: Any, picture: Any
) -> None:
    page = look(rollouts(serve(run), "step=3..4&domain=logic"))
    page.get_by_text("24 of 288 rollouts").wait_for()
    assert all(row.split("\t")[2] == "logic" for row in rows(page))
    accessible(page)
    picture(page, "rollouts-list-desktop-light")
    page.keyboard.press("/")
    page.keyboard.type("STEP 4")
    page.get_by_text("12 of 288 rollouts").wait_for()
    page.wait_for_url("**q=STEP+4**")
    page.get_by_label("reward", exact=True).fill("1")
    page.get_by_text("4 of 288 rollouts").wait_for()
    page.get_by_role("button", name="tokens").click()
    page.wait_for_url("**sort=tokens**")
    page.get_by_role("button", name="clear").click()
    page.get_by_text("288 of 288 rollouts").wait_for()


def test_a_mistake_in_a_filter_is_a_line(run: Path, serve: Any, look: Any) -> None:
    page = look(rollouts(serve(run), "reward=high"))
    page.get_by_text("reward must be a number or a range like 1..3, not 'high'").wait_for()


def test_rows_are_walked_opened_and_closed_with_keys(run: Path, serve: Any, look: Any) -> None:
    page = look(rollouts(serve(run)))
    page.get_by_text("288 of 288 rollouts").wait_for()
    page.locator("tr[data-at='0']").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**at=12.2**")
    page.get_by_role("heading", name="response 3 of 4").wait_for()
    page.keyboard.press("j")
    page.get_by_role("heading", name="response 4 of 4").wait_for()
    page.keyboard.press("k")
    page.get_by_role("heading", name="response 3 of 4").wait_for()
    page.keyboard.press("Escape")
    page.wait_for_function("() => !location.hash.includes('at=')")
    assert page.locator(".rollout-open").count() == 0


def test_prompts_are_rows_with_a_mark_a_response_and_open_side_by_side(
    run: Path, serve: Any, look: Any, expect: Any, accessible: Any, picture: Any
) -> None:
    page = look(f"{serve(run)}#/run/rollouts?reward=1&domain=math")
    page.get_by_text("36 prompts by step, 288 responses in all").wait_for()
    marks = page.locator("tr[data-at='0'] .marks circle")
    expect(marks).to_have_count(SAMPLES)
    accessible(page)
    picture(page, "rollouts-prompts-desktop-light")
    page.locator("tr[data-at='0']").click()
    page.get_by_role("heading", name="Step 12, sum-0: 2 of 4 passed").wait_for()
    page.keyboard.press("j")
    page.get_by_role("heading", name="Step 12, sum-2").wait_for()
    page.keyboard.press("Escape")
    page.get_by_text("36 prompts by step").wait_for()


def test_rows_far_down_are_there_when_they_are_scrolled_to(
    run: Path, serve: Any, look: Any
) -> None:
    page = look(rollouts(serve(run)))
    page.get_by_text("288 of 288 rollouts").wait_for()
    assert len(rows(page)) < 60
    page.locator(".rollout-rows").evaluate("e => e.scrollTo(0, 1e6)")
    page.locator("tr[data-at='287'] td", has_text="sum-5").wait_for()


def test_tokens_are_coloured_and_the_pointed_ones_number_is_written_out(
    run: Path, serve: Any, look: Any, expect: Any, accessible: Any, picture: Any
) -> None:
    page = look(rollouts(serve(run), "at=5.0&colour=gap"))
    tokens = page.locator(".tokens")
    tokens.wait_for()
    expect(tokens.locator("bdi")).to_have_text(
        "Step 5: naïve, 2 + 0 = \\boxed{3}", use_inner_text=True
    )
    assert tokens.locator("[data-token='2']").get_attribute("class").strip() == "b2"
    tokens.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".token-reading")).to_contain_text(
        'token 3 of 33 "e": sampler gap 0.3', use_inner_text=True
    )
    accessible(page)
    picture(page, "rollouts-tokens-desktop-light")
    page.get_by_label("colour tokens by").select_option("advantage")
    page.locator(".tokens .b1, .tokens .b2").first.wait_for()
    page.get_by_label("colour tokens by").select_option("sampler")
    page.locator(".tokens .n0").first.wait_for()
    page.wait_for_url("**colour=sampler**")


def test_a_conversation_says_who_wrote_what_and_only_sampled_tokens_are_coloured(
    own_run: Path, serve: Any, look: Any, expect: Any, accessible: Any, picture: Any
) -> None:
    write_step(own_run, 13, lambda row: row.update(turns=json.dumps(TALK), given=[0, 8]))
    page = look(rollouts(serve(own_run), "at=13.0&colour=sampler"))
    expect(page.locator("div.given")).to_have_text(
        "tool, from the environment4", use_inner_text=False
    )
    expect(page.locator(".tokens span.given")).to_have_count(8)
    page.locator(".tokens [data-token='3']").hover()
    reading = "from the environment, not sampled"
    expect(page.locator(".token-reading")).to_contain_text(reading, use_inner_text=True)
    accessible(page)
    picture(page, "rollouts-conversation-desktop-light")


def test_without_the_runs_tokenizer_the_page_says_why(own_run: Path, serve: Any, look: Any) -> None:
    (own_run.parent / "model" / "tokenizer.json").unlink()
    page = look(rollouts(serve(own_run), "at=5.0&colour=gap"))
    page.get_by_text("is not on this machine").wait_for()
    page.get_by_text("Step 5: naïve, 2 + 0").first.wait_for()


def test_a_verdict_is_checked_again_explained_and_compared(
    own_run: Path, serve: Any, look: Any, accessible: Any, picture: Any
) -> None:
    def lie(row: dict[str, Any]) -> None:
        row["reward"] = 1.0

    write_step(own_run, STEPS + 1, lie)
    address = serve(own_run)
    page = look(rollouts(address, "at=5.0"))
    page.get_by_role("button", name="check again").click()
    page.get_by_text("The same reward as recorded.").wait_for()
    page.locator(".findings > li").first.wait_for()
    accessible(page)
    picture(page, "rollouts-verdict-desktop-light")
    page = look(rollouts(address, "at=13.0"))
    page.get_by_role("button", name="check again").click()
    page.get_by_text("Another reward than recorded.").wait_for()


def test_a_rollout_is_copied_as_a_line_that_prorl_verify_file_reads(
    run: Path, tmp_path: Path, serve: Any, look: Any
) -> None:
    from prorl_verifiers import read_items

    page = look(rollouts(serve(run), "at=5.1"))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="copy as a test case").click()
    page.get_by_text("copied").wait_for()
    line = page.evaluate("() => navigator.clipboard.readText()")
    (tmp_path / "case.jsonl").write_text(line)
    (item,) = read_items(tmp_path / "case.jsonl")
    assert (item.id, item.task.verifier) == ("sum-0#5.1", "math")
    assert json.loads(line)["expected_reward"] == 1.0


@pytest.mark.parametrize(("size", "columns"), [("desktop", 2), ("phone", 1)])
def test_a_group_stands_side_by_side_and_on_a_phone_one_under_the_other(
    run: Path,
    serve: Any,
    look: Any,
    expect: Any,
    accessible: Any,
    picture: Any,
    size: str,
    columns: int,
) -> None:
    page = look(rollouts(serve(run), "group=7&sample=sum-2"), size, "dark")
    page.get_by_role("heading", name="Step 7, sum-2").wait_for()
    cards = page.locator(".group article")
    expect(cards).to_have_count(SAMPLES)
    expect(cards.nth(0).locator(".formula .boxed")).to_have_text("4")
    half = page.evaluate("import('/page/tex.js').then((t) => t.mathOf('\\\\frac12').innerHTML)")
    assert "<mfrac><mn>1</mn><mn>2</mn></mfrac>" in half
    cards.nth(1).get_by_role("button", name="a right one").click()
    expect(cards.nth(1).locator(".difference ins")).to_have_text("5")
    page.get_by_role("button", name="raw").click()
    expect(cards.nth(0)).to_contain_text("2 + 2 = \\boxed{4}", use_inner_text=True)
    lefts = {round(cards.nth(i).bounding_box()["x"]) for i in range(SAMPLES)}
    assert len(lefts) >= columns if columns > 1 else len(lefts) == 1
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    accessible(page)
    picture(page, f"rollouts-group-{size}-dark")
    page.get_by_role("link", name="step 8").click()
    page.get_by_role("heading", name="Step 8, sum-2").wait_for()


def test_a_prompt_is_followed_over_the_steps(
    run: Path, serve: Any, look: Any, accessible: Any, picture: Any
) -> None:
    page = look(rollouts(serve(run), "prompt=sum-2"))
    page.get_by_role("heading", name="sum-2 over 12 steps").wait_for()
    accessible(page)
    picture(page, "rollouts-prompt-desktop-light")
    page.get_by_label("responses to sum-2").locator("tr[data-at='0']").click()
    page.wait_for_url("**at=12.8**")


def test_a_new_step_is_seen_without_a_reload(own_run: Path, serve: Any, look: Any) -> None:
    page = look(rollouts(serve(own_run)))
    page.get_by_text("288 of 288 rollouts").wait_for()
    write_step(own_run, STEPS + 1)
    page.get_by_text("312 of 312 rollouts").wait_for()
    assert rows(page)[0].split("\t")[0] == "13"


def test_a_hostile_text_is_shown_and_does_nothing(own_run: Path, serve: Any, look: Any) -> None:
    def hostile(row: dict[str, Any]) -> None:
        long = row["sample_index"] == 1
        row["response"] = HOSTILE * (1 + long * 10**6 // len(HOSTILE))
        row["prompt"] = json.dumps([{"role": HOSTILE, "content": HOSTILE}])
        row["sample_id"] = row["task"] = row["status"] = row["finish_reason"] = HOSTILE
        row["extracted"] = row["reason"] = HOSTILE
        row["metrics"] = "no json"

    write_step(own_run, STEPS + 1, hostile)
    (own_run / "rollouts" / "step_000014.parquet").write_bytes(b"torn")
    address = serve(own_run)
    page = look(rollouts(address, "q=<script>"))
    page.get_by_text("24 of 312 rollouts").wait_for()
    page.get_by_text("1 left out or noted").click()
    for query in ("at=13.0", "at=13.1", "at=13.0&colour=sampler"):
        page.goto(rollouts(address, query))
        page.get_by_role("heading", name="Verdict").wait_for()
        page.locator(".rollout-open .text", has_text="⟨U+202E⟩").first.wait_for()
    page.goto(rollouts(address, "at=13.1"))
    page.get_by_text("of 1,000,").first.wait_for()
    page.get_by_role("link", name="group side by side").click()
    page.locator(".group article").first.wait_for()
    page.get_by_role("link", name="prompt over the steps").click()
    page.get_by_role("heading", name="over 1 step").wait_for()
    assert page.evaluate("() => window.pwned") is None
    assert page.locator("main script, main img").count() == 0
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_an_exported_page_filters_what_it_holds_and_checks_nothing(
    run: Path, tmp_path: Path, look: Any, accessible: Any
) -> None:
    from prorl_viewer import find_subjects, write_html

    file = tmp_path / "page.html"
    write_html(find_subjects([run]), file)
    page = look(rollouts(f"file://{file}", "step=4&q=naïve&reward=1"))
    page.get_by_text("8 of 288 rollouts").wait_for()
    accessible(page)
    page.locator("tr[data-at='0']").click()
    page.get_by_role("heading", name="Verdict").wait_for()
    assert page.get_by_role("button", name="check again").count() == 0


def test_a_share_safe_page_holds_no_text(run: Path, tmp_path: Path, look: Any) -> None:
    from prorl_viewer import find_subjects, write_html

    file = tmp_path / "page.html"
    write_html(find_subjects([run]), file, share_safe=True)
    whole = file.read_text()
    assert "naïve" not in whole
    assert "na\\u00efve" not in whole
    assert "What is 2" not in whole
    page = look(rollouts(f"file://{file}", "at=5.0&colour=gap"))
    page.get_by_text("left out (").first.wait_for()
