"""Tools that pages publish: registering, listing, routing and running them."""
