"""What every room uses: checks of what was given, parameters, properties, locks, text, and no data."""
