"""The side panel: approvals, the person's requests, and the state that it shows."""
