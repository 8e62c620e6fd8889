"""Problems whose inputs are far too long to be written down, folder by kind of input."""
