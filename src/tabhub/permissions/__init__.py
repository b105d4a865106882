"""Decides about calls: from levels, rules and grants to a verdict that names its rule. No I/O."""
