"""Parts that environments share, and the environments of prorl itself."""
