"""math-verify and the scorers of other projects, each in a process that can be killed."""
