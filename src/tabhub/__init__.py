"""tabhub connects any AI agent to the tabs of your own browser."""

__version__ = "0.1.0"
