"""Many users at once: scenarios, their files, the users, and the processes that run them on locust."""
