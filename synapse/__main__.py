"""``python -m synapse``."""

from synapse.cli import main

if __name__ == "__main__":
    main()
