"""Did the reasoning boundary move? Claims over paired results."""
