"""Free text and proofs, which no rule decides: a model behind an OpenAI-compatible server is asked.

Off unless PRORL_JUDGE_URL and PRORL_JUDGE_MODEL are set. Its verdicts are ``judged``, never ``scored``.
"""
