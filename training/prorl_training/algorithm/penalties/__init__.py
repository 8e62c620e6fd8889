"""The penalties that prorl brings, one a module. No torch."""
