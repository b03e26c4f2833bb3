"""The lens: explanations as plain data. Pure functions, nothing is drawn here."""
