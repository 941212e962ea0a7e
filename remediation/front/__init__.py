"""The front: what others speak to, over HTTP: Alertmanager's posts, people's pages and orders.

Nothing is decided here: a post becomes an entry of the ledger, an order too,
and a page shows what the loop last reported.
"""
