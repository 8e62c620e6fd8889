"""The command line: parse, call one function of a room, show what it returned."""
