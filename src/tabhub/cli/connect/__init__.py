"""`tabhub connect`: adds tabhub to the settings of agents, and removes it again."""
