"""Series held against each other: verdict, what differs, reports."""
