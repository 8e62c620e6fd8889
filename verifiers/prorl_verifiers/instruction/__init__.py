"""The instruction verifier, which checks the constraints of IFEval, IFEvalG and IFBench."""
