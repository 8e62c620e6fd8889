"""What a step samples: prompts, completions in groups, their verdicts, and where they wait."""
