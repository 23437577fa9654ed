"""A question goes in; notes, with reasons and citations, come out."""
