"""The languages that prorl brings, one module a spec, registered under ``prorl.languages``."""
