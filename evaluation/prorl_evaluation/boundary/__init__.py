"""Did the model's reasoning boundary move? Claims, solvable sets, gains."""
