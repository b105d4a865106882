"""Tools that pages publish: who registers them, and how they are run."""
