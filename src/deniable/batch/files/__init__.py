"""Public data, checked against known checksums, and files of reports.

flights, wind_directions, airline_names     every flight that left New York City in 2013
read_reports                                files and frames of reports to sums, whatever their format and size
"""
