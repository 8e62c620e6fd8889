"""Small families of math, code, STEM and instruction, sized for a model of a hundred million parameters."""
