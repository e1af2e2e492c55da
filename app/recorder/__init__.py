"""The recorder: runs plans, stores each run the moment it ended, and hands the events on."""
