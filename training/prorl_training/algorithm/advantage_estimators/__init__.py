"""The advantage estimators that prorl brings, one a module."""
