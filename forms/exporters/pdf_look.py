"""The font and the colours of a PDF's pages, tables and charts."""

TEXT = "text"
"""The name of our font."""

INK = (27, 27, 27)
GREY = (89, 89, 89)
LINE = (138, 138, 138)
WARN = (143, 29, 29)
"""Of what was rejected or failed."""
