"""How hard a dataset's rows are for a model: a store of samples and what it says."""
