"""Families of counting: arrangements, selections, distributions, paths, colourings and worst cases."""
