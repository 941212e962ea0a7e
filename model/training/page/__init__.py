"""The evaluation as one HTML page that needs nothing else: drawings are SVG inside it."""
