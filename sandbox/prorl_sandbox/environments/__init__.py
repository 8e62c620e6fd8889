"""Environments: the packages that programs may import beside the standard library.

``requirements`` reads what one is to hold, ``build`` makes it with pip, ``store`` keeps and finds it,
``missing`` says which one has a module that a program lacked.
"""
