"""Samples of a store: which count, what each stands for, summed by task and stack."""
