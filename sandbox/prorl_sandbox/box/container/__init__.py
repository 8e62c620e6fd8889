"""Code that runs in a container: its first process (init), the template process, and one run after another."""
