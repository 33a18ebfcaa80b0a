"""Campaigns: many walks from one file, on one machine or a cluster, with a row of each, a report, comparisons."""
