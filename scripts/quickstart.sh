#!/usr/bin/env bash
# The whole of prorl in one go on one small machine: model, data, training, evaluation, report.
# Called by `make quickstart`; STEPS=2 shortens the training. Run again, it reuses model and data.
set -euo pipefail

run="quickstart-$(date +%Y%m%d-%H%M%S)"
data="data/quickstart"
started=$(date +%s)

prorl model fetch smollm2-135m
prorl data build --recipe quickstart --out "$data"
trained=$(date +%s)
prorl train --preset quickstart --data "$data" --name "$run" ${STEPS:+--steps "$STEPS"}
# Three policies: the untouched model, after the warm start (step 0), and after RL.
prorl eval pass-at-k --run "$run" --dataset "$data" --k 8 --n 16 \
    --checkpoint base --checkpoint 0 --checkpoint latest
prorl eval report "runs/$run" --out "runs/$run/report.html"
now=$(date +%s)
echo "quickstart done in $((now - started)) s, of which $((now - trained)) s for training, evaluation and report"
echo "report: runs/$run/report.html"
