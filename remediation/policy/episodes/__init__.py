"""Episodes: who is concerned this tick, what holds about them, and what must leave.

Derived anew from the facts each time; nothing is granted and nothing done here.
"""
