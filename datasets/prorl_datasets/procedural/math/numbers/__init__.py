"""Families of number theory: powers, congruences, divisors, digits, bases and equations in integers."""
