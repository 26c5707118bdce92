"""`python -m deniable.cli` is the same as `deniable`."""

from deniable.cli import main

if __name__ == "__main__":
    main()
