"""The exploit search: does a verifier reward wrong answers?"""
