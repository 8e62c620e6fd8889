"""How hard a dataset's rows are for a model: a store of samples, fed by sampling, rollouts and evaluations."""
