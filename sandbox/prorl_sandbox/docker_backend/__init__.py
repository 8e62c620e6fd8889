"""Docker backend: programs run in containers that are kept running."""
