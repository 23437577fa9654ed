"""A command line goes in; text or JSON and an exit code come out."""
