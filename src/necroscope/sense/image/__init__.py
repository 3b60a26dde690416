"""An image that was not booted: which units its files install, enable and depend on. Files only, no link followed."""
