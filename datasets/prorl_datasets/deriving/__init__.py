"""Datasets out of datasets: ``filter`` and ``merge`` write whole ones, ``show`` looks at a row."""
