"""What changes over a run and why: controller, guard, validation, and the record of decisions."""
