"""The adapters: how the rows of published data sets become ours. Each is a spec beside its function."""
