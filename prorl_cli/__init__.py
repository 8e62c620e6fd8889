"""The command line: parse arguments, call one function of a package, print its result."""
