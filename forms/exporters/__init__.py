"""One exporter a format, all from the same form model."""
