"""Everything that touches FalkorDB."""
