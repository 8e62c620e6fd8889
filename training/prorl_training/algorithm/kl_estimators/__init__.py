"""Schulman's estimates of the KL divergence (joschu.net/blog/kl-approx.html, 2020), one a module."""
