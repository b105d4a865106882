"""`tabhub config`: reading and changing settings."""
