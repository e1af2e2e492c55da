"""The recorder: runs plans, stores each run as it ends, and passes the events on."""
