"""Science problems with known answers in seven fields, one family per relation or concept."""
