"""Where models live, how they are fetched, converted and loaded."""
