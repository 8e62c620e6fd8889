"""Sample from a Transformers model in this process, on CPU or CUDA."""
