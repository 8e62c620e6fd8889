"""Make the evidence scripts, and those of the forecast, importable as they import each other."""

import sys
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path[:0] = [str(BENCHMARKS / "evidence"), str(BENCHMARKS)]
