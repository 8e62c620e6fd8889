"""Re-enactments of three in-process graders, run as programs inside a box and never on the host.

Written from their documented behaviour: the candidate runs in a forked child of the grader, beside
the expected values. They are here to be beaten; nothing of them grades anything.
"""
