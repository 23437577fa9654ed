"""A part of the graph goes in; a JSON Canvas comes out, with all a person did to it."""
