"""`tabhub connect`: writes tabhub into the settings of agents, and takes it out again."""
