"""The languages that prorl brings."""
