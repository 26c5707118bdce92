"""Families of events. Each proposes a few from the first half of the search draws; the other half compares them.

values      fields by their values, alone and two by two
units       single bytes, digits and characters
residues    remainders of whole numbers
sums        sums, exclusive or and set bits of all bytes of a field, and of the whole report
parities    single bits, and the exclusive or of two
conditions  a bit that tells the value only where another field or the place in the run says so
relations   linear equations that hold for the reports of one input: checksums, parities of many bits
orders      which of two fields is larger
sequence    a report beside the one before and the one after it: counters, shared randomness
windows     a few reports in a row: a value shared out over them, or told by a later one
digests     hashes and MACs under keys that can be guessed
learned     what a classifier of scikit-learn says
"""
