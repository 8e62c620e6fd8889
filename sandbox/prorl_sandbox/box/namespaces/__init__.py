"""The local backend's side within its walls: template, supervisor, slots and boxes."""
