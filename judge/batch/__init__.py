"""Verdicts by batch: the OpenAI Batch API, and files for any other runner; the same rows."""
