"""The command's side: what is asked for, checked, put into OpenRLHF's words, started and followed."""
