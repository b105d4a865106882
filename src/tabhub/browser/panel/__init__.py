"""The side panel: approvals, what a person does there, and what it shows."""
