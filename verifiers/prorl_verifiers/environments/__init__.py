"""The environments of prorl, and the code that they share."""
