"""Plugins: packages of tools for some sites; the person reviews each before it can run."""
