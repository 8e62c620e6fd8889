"""Code that runs in a container: init, the template, one run after another."""
