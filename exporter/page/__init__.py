"""What is published: every family once, its text, and who may read it.

Built anew from one immutable view at every scrape; collects nothing, decides
nothing, keeps nothing.  The reference of all metrics is written from the same list.
"""
