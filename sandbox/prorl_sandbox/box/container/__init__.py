"""Code that runs in a container: init, the template, and one run after another."""
