"""What both backends share: from a program to jobs, through boxes, to an Outcome."""
