"""A folder goes in; its files, their bytes and what changed about them come out; changes go in by one door."""
