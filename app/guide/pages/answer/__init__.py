"""What the page that compares says after its answer: doubts, verdicts on others, what is asked, what comes next."""
