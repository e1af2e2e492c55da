"""Comparisons of three series and more on one page: what each was, all verdicts, and what happened when."""
