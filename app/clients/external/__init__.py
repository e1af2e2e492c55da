"""Programs that the admin trusts, measured by what they report: the same series with another client."""
