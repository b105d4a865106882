"""How long a test waits for what will happen: a busy machine makes that late, not wrong."""

PATIENCE = 60.0
