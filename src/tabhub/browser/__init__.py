"""The link to the extension, the side panel and the launcher; knows nothing of agents."""
