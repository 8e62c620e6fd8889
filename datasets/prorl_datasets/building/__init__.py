"""A build: plan, collect, choose, check, write."""
