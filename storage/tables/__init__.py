"""The tables of a notebook beside those of series and loads, read and written."""
