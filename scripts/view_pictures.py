"""Make the pictures of `prorl view` in the docs, from real runs, with Debian's Chromium.

    python benchmarks/small_policy.py benchmarks/studies/why_reward_fell.yaml --work runs/walk
    prorl data build --recipe quickstart --out runs/walk/quickstart
    prorl eval pass-at-k --run runs/walk/half --checkpoint 0 --checkpoint latest \
        --dataset runs/walk/data --split validation --k 8 --n 16 --set sampling.temperature=1 --set sampling.top_p=1
    python scripts/view_pictures.py --work runs/walk

Needs playwright, Chromium and Pillow. Every picture shows one address of the page.
"""

from __future__ import annotations

import argparse
import io
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1] / "docs" / "images" / "view"
LARGEST = 150_000
"""Maximum size of a picture in bytes."""
DESKTOP, PHONE = (1280, 900), (390, 844)
FALL = 131
"""Step of the run ``fast`` from which its reward is lower (docs/tutorials/why-reward-fell.md)."""
PROMPT = "train-cipher-00496"  # the run saw it before and after
AROUND = f"#/fast/run?step={FALL}&width=50&mean=20"
BESIDE = "#/fast/run?with=half&mean=20&curves=reward_mean,validation_reward,kl,lr"
CIPHER = f"#/fast/rollouts?step={FALL}..180&task=evidence%2Fcipher"


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture of the page at the address ``place``.

    It is taken when the selector ``ready`` exists and ``act`` is done, and shows the element ``of`` or the page.
    """

    name: str
    place: str
    ready: str
    act: Callable[[Any], None] = lambda page: None
    of: str = ""
    size: tuple[int, int] = DESKTOP
    theme: str = "light"


def _scroll_to_parts(page: Any) -> None:
    page.get_by_role("heading", name="By task").wait_for()
    page.locator(".panel .suspects + *").evaluate("e => e.scrollIntoView()")
    page.locator(".panel").evaluate("e => e.scrollBy(0, -54)")


def _scroll_to_charts(page: Any) -> None:
    page.locator(".chapter").first.evaluate("e => e.scrollIntoView()")


def _check(page: Any) -> None:
    page.get_by_role("button", name="check again and explain").click()
    page.get_by_text("reward as recorded").wait_for()


PICTURES = (
    Picture("run", "#/fast/run?mean=20", ".chart .line"),
    Picture("run-phone", "#/fast/run?mean=20", ".chart .line", size=PHONE, theme="dark"),
    Picture("around", AROUND, ".suspect"),
    Picture("parts", AROUND, ".suspect", _scroll_to_parts, ".panel"),
    Picture("prompt", f"{CIPHER}&prompt={PROMPT}", ".chart .line"),
    Picture("group-before", f"#/fast/rollouts?group=71&sample={PROMPT}", "article"),
    Picture("group", f"#/fast/rollouts?group=178&sample={PROMPT}", "article"),
    Picture("rollouts", f"#/fast/rollouts?step={FALL}..180&finish_reason=length", "tr[data-at]"),
    Picture("response", f"{CIPHER}&at=178.116", ".rollout-head", _check),
    Picture("beside", BESIDE, ".chart .line >> nth=7", _scroll_to_charts, size=(1280, 760)),
    Picture("dataset-rows", "#/quickstart/dataset", "tbody tr"),
    Picture("dataset-row", "#/quickstart/dataset?row=code-add_two-train-000003", "article, h2"),
    Picture("dataset-counts", "#/quickstart/dataset?tab=counts", ".bars, svg, table"),
    Picture("dataset-dropped", "#/quickstart/dataset?tab=dropped", "table"),
    Picture("evaluation", "#/half-eval/evaluation", ".chart .line"),
    Picture("evaluation-problems", "#/half-eval/evaluation?tab=problems&by=none", ".share"),
    Picture("evaluation-claims", "#/half-eval/evaluation?tab=claims", ".regime"),
    Picture("evaluation-solvable", "#/half-eval/evaluation?tab=solvable", ".share"),
    Picture(
        "evaluation-problem",
        "#/half-eval/evaluation?tab=problems&problem=validation-backward-00002",
        "article .text",
    ),
)


def main() -> int:
    """Take all pictures, or the named ones; return 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="which pictures (default: all)")
    parser.add_argument("--work", type=Path, default=Path("runs/walk"))
    parser.add_argument("--out", type=Path, default=DOCS)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    with _served(args.work) as address, _browser() as browser:
        for picture in PICTURES:
            if not args.names or picture.name in args.names:
                size = _take(browser, address, picture, args.out / f"{picture.name}.png")
                print(f"{picture.name}: {size:,} bytes", flush=True)
    return 0


def _take(browser: Any, address: str, picture: Picture, file: Path) -> int:
    """Take a picture and return its size in bytes. Raises SystemExit if it is too large."""
    from PIL import Image

    width, height = picture.size
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=picture.theme
    )
    page = context.new_page()
    page.goto(address + picture.place)
    page.wait_for_selector(picture.ready)
    page.wait_for_function("() => !document.querySelector('.computing')")
    page.wait_for_timeout(1500)  # wait for data that the page requests later
    picture.act(page)
    page.wait_for_timeout(300)
    taken = page.locator(picture.of).screenshot() if picture.of else page.screenshot()
    context.close()
    Image.open(io.BytesIO(taken)).convert("RGB").quantize(256, kmeans=2).save(file, optimize=True)
    if (size := file.stat().st_size) > LARGEST:
        raise SystemExit(f"{file} has {size:,} bytes: more than {LARGEST:,}")
    return size


@contextmanager
def _served(work: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "prorl_cli", "view", str(work)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@contextmanager
def _browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Chromium's own sandbox does not start for root
        opened = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        yield opened
        opened.close()


if __name__ == "__main__":
    sys.exit(main())
