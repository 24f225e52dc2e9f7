"""The pure part of Synapse: formulas and decisions. No clock, no environment, no database."""
