"""What questions other than `why` are about and end with: the values of `audit` and of `validate`."""
