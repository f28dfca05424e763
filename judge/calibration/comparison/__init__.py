"""Judge prompts side by side on the same items: which agrees better with people, and how sure."""
