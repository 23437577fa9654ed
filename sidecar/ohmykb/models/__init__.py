"""Texts go in; vectors of unit length come out, from weights on this machine or an endpoint its owner named."""
