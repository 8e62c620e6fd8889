"""A sandbox that is elsewhere: in another process, or behind ``prorl sandbox serve`` on another machine."""
