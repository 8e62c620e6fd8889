"""The report: ``data`` computes it once; ``html``, ``markdown`` and ``data.to_json`` write it down."""
