"""Quick tests: the four lines that everybody quotes, read and written, on one file that is made for it."""
