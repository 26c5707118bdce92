"""`python -m deniable` is the same as `deniable`."""

from deniable.cli.app import main

if __name__ == "__main__":
    main(prog_name="deniable")
