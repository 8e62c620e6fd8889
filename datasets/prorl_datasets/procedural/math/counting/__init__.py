"""Counting: arrangements, selections, distributions, paths, colourings and worst cases."""
