"""Number theory: powers, congruences, divisors, digits, bases and equations in integers."""
