"""Serving pages: the only place that knows of Gradio and of HTTP."""
