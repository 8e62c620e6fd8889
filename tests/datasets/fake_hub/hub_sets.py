"""Made-up rows in the formats and layouts of the published datasets, at a hundredth of their size."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Sequence
from typing import Any

from hub_server import FakeHub

WORDS = [
    "amber", "anchor", "apron", "arrow", "autumn", "badge", "bakery", "banner", "barrel", "basket",
    "beacon", "beaver", "bench", "berry", "bishop", "blanket", "bottle", "bridge", "bucket",
    "button", "cabin", "candle", "canoe", "canvas", "carpet", "castle", "cedar", "cellar", "chalk",
    "cherry", "circle", "clover", "cobalt", "copper", "coral", "cotton", "cradle", "crane",
    "crystal", "curtain", "dagger", "desert", "diamond", "dolphin", "dragon", "drawer", "eagle",
    "elbow", "ember", "engine", "falcon", "feather", "fiddle", "finger", "flame", "forest",
    "fossil", "fountain", "garden", "garlic", "ginger", "glacier", "gravel", "guitar", "hammer",
    "harbour", "hazel", "helmet", "hollow", "honey", "hunter", "island", "ivory", "jacket",
    "jasmine", "jungle", "kettle", "kitten", "ladder", "lantern", "lemon", "linen", "lizard",
    "lobster", "maple", "marble", "meadow", "mirror", "mitten", "monkey", "morning", "mountain",
    "mustard", "needle", "nettle", "nickel", "oasis", "ocean", "olive", "onion", "orchard", "otter",
    "oyster", "paddle", "palace", "parrot", "pebble", "pencil", "pepper", "pigeon", "pillow",
    "pirate", "planet", "pocket", "poplar", "powder", "puddle", "pumpkin", "quarry", "quiver",
    "rabbit", "ribbon", "river", "rocket", "saddle", "saffron", "salmon", "sandal", "sapphire",
    "scarf", "shadow", "shelter", "silver", "spider", "spoon", "squirrel", "stable", "summer",
    "sunset", "tailor", "temple", "thistle", "thunder", "timber", "tulip", "tunnel", "turtle",
    "valley", "velvet", "violin", "walnut", "willow", "window", "winter", "wizard", "yellow",
    "zebra",
]  # fmt: skip
EURUS = (
    "\n\nWrite Python code to solve the problem. Present the code in \n```python\nYour code\n```\n"
    "at the end."
)
Rows = list[dict[str, Any]]


def _text(chance: random.Random, length: int = 14) -> str:
    return " ".join(chance.choices(WORDS, k=length))


def deepscaler(chance: random.Random, number: int) -> dict[str, Any]:
    """DeepScaleR, with no answer in one row of fifty."""
    a, b = chance.randrange(10, 900), chance.randrange(10, 900)
    answer = "" if number % 50 == 7 else f"\\frac{{{a}}}{{{b}}}" if number % 3 == 0 else str(a + b)
    return {"problem": f"{_text(chance)}: {a} and {b}?", "answer": answer, "solution": ""}


def eurus(chance: random.Random, number: int) -> dict[str, Any]:
    """Eurus-2-RL-Data: a quarter code, of which a tenth calls a function."""
    system = {"role": "system", "content": "You may [ASSESS], [ADVANCE] and [OUTPUT]."}
    is_code = number % 4 == 0
    truth: str = str(number)
    text = f"{_text(chance)}\n\nPresent the answer in LaTex format: \\boxed{{Your answer}}"
    if is_code:
        pairs = [
            (chance.randrange(999), chance.randrange(999)) for _ in range(chance.randrange(3, 30))
        ]
        text = f"Add the numbers of {_text(chance)}." + EURUS
        tests: dict[str, Any] = {
            "inputs": [f"{a} {b}\n" for a, b in pairs],
            "outputs": [f"{a + b}\n" for a, b in pairs],
        }
        if number % 40 == 0:
            tests = {
                "fn_name": "add",
                "inputs": [[a, b] for a, b in pairs],
                "outputs": [[a + b] for a, b in pairs],
            }
        truth = json.dumps(tests)
    source = ("taco", "apps", "codecontests", "codeforces") if is_code else ("numina_olympiads",)
    return {
        "data_source": source[number // 4 % len(source)],
        "prompt": [system, {"role": "user", "content": text}],
        "ability": "code" if is_code else "math",
        "reward_model": {"ground_truth": truth, "style": "rule"},
        "extra_info": {"index": 0, "split": "dummy"},
    }


def scp(chance: random.Random, number: int) -> dict[str, Any]:
    """SCP-116K, large version: one response in six is wrong, one solution in nine is missing."""
    mass, speed = chance.randrange(2, 90), chance.randrange(2, 90)
    said = mass * speed + (number % 6 == 1)
    return {
        "domain": chance.choice(["Physics", "Mechanics", "Chemistry"]),
        "problem": f"A body of {mass} kg, {_text(chance)}, moves at {speed} m/s. What is its momentum in kg m/s?",
        "extract_solution": None
        if number % 9 == 4
        else f"The momentum is $p = mv = {mass * speed} \\mathrm{{~kg\\,m/s}}$.",
        "r1_reasoning_content": "Momentum is mass times speed.",
        "r1_response": f"So the momentum is \\boxed{{{said}\\ \\mathrm{{kg\\,m/s}}}}.",
    }


def nemotron(chance: random.Random, number: int) -> dict[str, Any]:
    """The instruction part of Llama-Nemotron's RL set."""
    kinds: list[tuple[str, dict[str, Any], str]] = [
        ("punctuation:no_comma", {}, "Use no comma."),
        (
            "length_constraints:number_words",
            {"num_words": 40, "relation": "at least"},
            "Use 40 words or more.",
        ),
        (
            "detectable_format:number_bullet_lists",
            {"num_bullets": 3},
            "Use exactly 3 bullet points.",
        ),
    ]
    identity, kwargs, said = kinds[number % 3]
    return {
        "input": [{"role": "user", "content": f"Write about {_text(chance)}. {said}"}],
        "args": {
            "instruction_id_list": [identity],
            "instruction_kwargs": [kwargs],
            "task": "instruction_following",
            "num_instructions": 1,
        },
        "category": "instruction_following",
        "license": "odc-by",
        "reasoning": "off",
        "used_in_training": "Ultra, Super",
        "version": "v1",
        "system_prompt": "detailed thinking off",
    }


def _question(answer: Callable[[random.Random, int], dict[str, Any]], column: str) -> Any:
    def row(chance: random.Random, number: int) -> dict[str, Any]:
        return {column: f"What of {_text(chance)}?", **answer(chance, number)}

    return row


def human_eval(chance: random.Random, number: int) -> dict[str, Any]:
    name = f"f{number}"
    return {
        "task_id": f"HumanEval/{number}",
        "prompt": f'def {name}(x):\n    """{_text(chance)}"""\n',
        "canonical_solution": "    return x\n",
        "entry_point": name,
        "test": "def check(candidate):\n    assert candidate(1) == 1\n",
    }


def live_code(chance: random.Random, number: int) -> dict[str, Any]:
    tests = json.dumps([{"input": "1\n", "output": "1\n", "testtype": "stdin"}])
    return {
        "question_title": f"P{number}", "question_content": _text(chance), "platform": "atcoder",
        "question_id": f"p{number}", "contest_id": "c", "contest_date": "2024-09-01T00:00:00",
        "starter_code": "", "difficulty": "easy", "public_test_cases": tests,
        "private_test_cases": tests, "metadata": "{}",
    }  # fmt: skip


def if_eval(chance: random.Random, number: int) -> dict[str, Any]:
    ids, kwargs = ["punctuation:no_comma"], [{"num_words": None, "relation": None}]
    return {"key": number, "prompt": _text(chance), "instruction_id_list": ids, "kwargs": kwargs}


def gpqa(chance: random.Random, number: int) -> dict[str, Any]:
    wrong = {f"Incorrect Answer {n}": f"no {n}" for n in (1, 2, 3)}
    row = {"Question": _text(chance), "Correct Answer": "yes", **wrong, "Record ID": f"rec{number}"}
    return {**row, "Subdomain": "Physics"}


def rows_of(make: Callable[[random.Random, int], dict[str, Any]], count: int, seed: str) -> Rows:
    """Return ``count`` rows that depend on the seed only."""
    chance = random.Random(seed)
    return [make(chance, number) for number in range(count)]


def jsonl(rows: Rows) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def parquet(rows: Rows) -> bytes:
    """Return rows as a Parquet file with one row group."""
    import pyarrow as pa
    from pyarrow import parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out)
    return out.getvalue()


def _csv(rows: Rows) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def put_training_sets(hub: FakeHub, share: float = 0.01) -> None:
    """Put ``share`` of the rows of the four training sets on the hub."""

    def some(make: Callable[[random.Random, int], dict[str, Any]], whole: int, name: str) -> Rows:
        return rows_of(make, int(whole * share), name)

    math = json.dumps(some(deepscaler, 40_315, "deepscaler"), indent=1).encode()
    card = b"---\nlicense: other\n---\n# A card\n"
    hub.put("agentica-org/DeepScaleR-Preview-Dataset", {"deepscaler.json": math, "README.md": card},
            name="b6ae8c60f5c1f2b594e2140b91c49c9ad0949e29")  # fmt: skip
    code = {
        "train.parquet": parquet(some(eurus, 101_104, "eurus")),
        "validation.parquet": parquet(rows_of(eurus, 40, "eurus validation")),
        "README.md": card,
    }
    hub.put("PRIME-RL/Eurus-2-RL-Data", code, name="9776b13264b5aaa0b16495fcf086a0a8d86fd655")
    stem = some(scp, 60_000, "scp")
    hub.put(
        "EricLu/SCP-116K", {"SCP_116K_in_open_source_format.jsonl": jsonl(stem), "README.md": card}
    )
    hub.put(
        "EricLu/SCP-116K",
        {"default/train/0000.parquet": parquet(stem)},
        branch="refs/convert/parquet",
    )
    instruction = jsonl(some(nemotron, 56_339, "nemotron"))
    files = {"RL/instruction_following/instruction_following.jsonl": instruction, "README.md": card}
    files |= {
        f"SFT/{part}/{part}_v1.jsonl": b'{"input": []}\n'
        for part in ("code", "math", "science", "chat", "safety")
    }
    hub.put("nvidia/Llama-Nemotron-Post-Training-Dataset", files,
            name="ab2a40d258a6a4d9d4c277d702aeea445081766c")  # fmt: skip


def put_benchmarks(hub: FakeHub) -> None:
    """Put the published benchmarks on the hub; GPQA is gated."""

    def answered(column: str, answer: Any, **more: Any) -> Any:
        return _question(lambda _, n: {"answer": answer, "id": n, **more}, column)

    def one(repo: str, file: str, data: bytes, revision: str | None = None) -> None:
        hub.put(repo, {file: data, "README.md": b"# A card\n"}, name=revision)

    def number(_: random.Random, n: int) -> dict[str, Any]:
        return {"final_answer": [str(n)], "context": None, "is_multiple_answer": False, "unit": None,
                "error": None, "answer_type": "Numerical", "modality": "Text-only", "id": n}  # fmt: skip

    train = "data/train-00000-of-00001.parquet"
    one("HuggingFaceH4/aime_2024", train, parquet(rows_of(answered("problem", "025", solution=""), 30, "a24")),
        "2fe88a2f1091d5048c0f36abc874fb997b3dd99a")  # fmt: skip
    parts = {
        f"aime2025-{part}.jsonl": jsonl(rows_of(answered("question", "7"), 15, part))
        for part in ("I", "II")
    }
    hub.put("opencompass/AIME2025", parts, name="a6ad95f611d72cf628a80b58bd0432ef6638f958")
    one("AI-MO/aimo-validation-amc", train, parquet(rows_of(answered("problem", 142.0), 83, "amc")),
        "69d78a4a2c840e82d69af6bc742bda09005f6316")  # fmt: skip
    math = _question(
        lambda _, n: {"answer": "1", "unique_id": f"test/{n}.json", "level": 1}, "problem"
    )
    one("HuggingFaceH4/MATH-500", "test.jsonl", jsonl(rows_of(math, 50, "math")),
        "6e4ed1a2a79af7d8630a6b768ec859cb5af4d3be")  # fmt: skip
    one(
        "math-ai/minervamath",
        "test.jsonl",
        jsonl(rows_of(answered("question", "4.5e33"), 27, "minerva")),
    )
    olympiad = "OlympiadBench/OE_TO_maths_en_COMP/OE_TO_maths_en_COMP.parquet"
    one("Hothan/OlympiadBench", olympiad, parquet(rows_of(_question(number, "question"), 67, "olympiad")),
        "91184b52131e7fc9455fef848035173aea8cc01a")  # fmt: skip
    one("evalplus/humanevalplus", "data/test-00000-of-00001-5973903632b82d40.parquet",
        parquet(rows_of(human_eval, 16, "human")))  # fmt: skip
    live: Sequence[str] = ("", "2", "3", "4", "5", "6")
    files = {f"test{part}.jsonl": jsonl(rows_of(live_code, 10, f"live{part}")) for part in live}
    hub.put("livecodebench/code_generation_lite", {**files, "code_generation_lite.py": b"# a script\n"},
            name="0fe84c3912ea0c4d4a78037083943e8f0c4dd505")  # fmt: skip
    one("google/IFEval", "ifeval_input_data.jsonl", jsonl(rows_of(if_eval, 54, "ifeval")),
        "966cd89545d6b6acfd7638bc708b98261ca58e84")  # fmt: skip
    one("Idavidrein/gpqa", "gpqa_diamond.csv", _csv(rows_of(gpqa, 20, "gpqa")))
    hub.repos["Idavidrein/gpqa"].gated = True
