"""One table of many models: pass@1 and pass@K by benchmark or domain, and which differences to a baseline are claimed."""
