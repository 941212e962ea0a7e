"""What an artefact is worth: replayed over nodes that it never saw, and measured.

Whoever raised an alert is judged alike; rivals come with scores of their own.
"""
