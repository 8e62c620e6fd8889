"""The instruction verifier: the constraints of IFEval, IFEvalG and IFBench.

``scorer`` scores, ``registry`` lists the ids, ``report`` sums verdicts up, ``reference`` checks tasks.
"""
