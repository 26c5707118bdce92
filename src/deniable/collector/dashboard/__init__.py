"""The pages the collector serves: surveys, results, privacy, an epsilon explorer, and one to answer on. No CDN.

routes      everything to serve beside the collector's API
"""
