"""Files of other tools into a store."""
