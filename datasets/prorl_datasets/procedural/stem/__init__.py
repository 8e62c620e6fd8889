"""Science problems with known answers: one family a relation or concept, seven fields."""
