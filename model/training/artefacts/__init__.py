"""Graphs as files: exported, checked against the framework, described, set anew, put in place."""
