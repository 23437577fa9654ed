"""Oh My KB: Markdown files in, a true and searchable graph out."""

__version__ = "0.1.0"
