"""ProRL itself: config and presets, objectives, controller, local engine."""
