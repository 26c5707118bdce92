"""What a private value may be: each domain checks it, turns it into an index, and reads indices back.

A domain is loaded when it is first asked for: a first report must not wait for those it does not use.
"""
