"""The data card of a built dataset."""
