"""The exploit search: what an answer that solves nothing earns from each verifier, against chance."""
