"""Rows go in and come out: the index database and the device's state database."""
