"""Who may do what: levels, rules and grants go in, a verdict with its rule comes out. No I/O."""
