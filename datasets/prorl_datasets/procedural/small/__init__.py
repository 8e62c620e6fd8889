"""Small families of math, code, STEM and instruction for models of about a hundred million parameters."""
