"""Guards: every reason not to act, each a function that answers with a refusal or None.

All of them are asked before each grant: evidence, sanity, budget, domains,
rest, distress, hours, facility, and room for the work that would leave.
Unreadable means no.
"""
