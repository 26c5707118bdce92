"""Families of events. Each proposes a few from the first half of the search draws; the other half compares them.

values      fields by their values, alone and two by two
units       single bytes, digits and characters
residues    remainders of whole numbers
sums        sums, exclusive or and set bits of all bytes of a field, and of the whole report
parities    single bits, and the exclusive or of two
relations   linear equations that hold for the reports of one input: checksums, parities of many bits
orders      which of two fields is larger
sequence    a report beside the one before and the one after it: counters, shared randomness
learned     what a classifier of scikit-learn says
"""
