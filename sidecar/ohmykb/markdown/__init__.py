"""A note's text goes in; links, tags, headings, blocks, properties, chunks and search words come out."""
