"""The wire: simulated nodes as dcgm-exporter pages and Redfish trees over real HTTP.

Spellings here come from recorded bodies and trees, not from the product's tables.
"""
