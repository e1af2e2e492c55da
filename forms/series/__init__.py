"""One series: its summary, its report, its document."""
