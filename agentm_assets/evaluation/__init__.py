"""Asking recall what is known to be in a vault, and counting what comes back."""
