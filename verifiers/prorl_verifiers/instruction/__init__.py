"""The instruction verifier: the constraints of IFEval, IFEvalG and IFBench."""
