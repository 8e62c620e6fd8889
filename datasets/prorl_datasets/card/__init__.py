"""The data card that stands beside a built dataset."""
