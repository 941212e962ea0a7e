"""Grafana dashboards, built from code and committed as JSON.

`fleet.py` says what is shown, `panels.py` how a kind of panel looks, `build.py`
writes the JSON, `queries.py` lists every query in it as Prometheus gets them.
Knows metric names and nothing else of the product.
"""
