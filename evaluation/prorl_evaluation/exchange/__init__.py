"""Task definitions of other evaluation harnesses in, our results in their JSON out."""
