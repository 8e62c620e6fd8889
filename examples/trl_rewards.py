"""TRL's GRPOTrainer with prorl's rewards: two steps on a tiny random model, on any CPU.

pip install trl
python examples/trl_rewards.py --model HuggingFaceTB/SmolLM2-135M-Instruct --data data/quickstart
"""

import argparse
import json
from pathlib import Path

import datasets
from trl import GRPOConfig, GRPOTrainer

import prorl
from prorl_verifiers.adapters import make_trl_reward

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--model", required=True)
parser.add_argument("--data", type=Path, required=True, help="a dataset of prorl data build")
parser.add_argument("--out", default="runs/trl")
parser.add_argument("--steps", type=int, default=2)
options = parser.parse_args()

rows = [
    {
        "prompt": [dict(message) for message in sample.prompt],
        "verifier": sample.task.verifier,
        "reference": json.dumps(dict(sample.task.reference)),
    }
    for sample in prorl.load_dataset(options.data, "train")
]
trainer = GRPOTrainer(
    model=options.model,
    reward_funcs=[make_trl_reward(workers=2)],
    train_dataset=datasets.Dataset.from_list(rows),
    args=GRPOConfig(
        output_dir=options.out,
        max_steps=options.steps,
        per_device_train_batch_size=4,
        num_generations=4,
        max_completion_length=16,
        logging_steps=1,
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        bf16=False,
    ),
)
trainer.train()
for row in trainer.state.log_history:
    if "reward" in row:
        print({key: value for key, value in row.items() if key in ("reward", "loss", "step")})
