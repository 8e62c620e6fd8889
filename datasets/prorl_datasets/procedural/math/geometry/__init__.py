"""Families of geometry: coordinates, plane figures, circles, triangles, solids."""
