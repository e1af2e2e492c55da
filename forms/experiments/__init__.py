"""Several series as one piece of work: the ladder, the survey, the self-test."""
