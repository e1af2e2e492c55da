"""Many users at once: scenarios, their files, the users, and the locust processes."""
