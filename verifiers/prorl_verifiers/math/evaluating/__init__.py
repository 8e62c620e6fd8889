"""The value of a tree at a point, and whether two trees, or two equations, are equal by it."""
