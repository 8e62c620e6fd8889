"""Read LaTeX text, exact numbers and units for the math and STEM verifiers."""
