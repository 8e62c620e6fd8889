"""Sample from an OpenAI-compatible server."""
