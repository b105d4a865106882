"""The audit log: who called which tool where, by which rule, and with what outcome. No secrets."""
