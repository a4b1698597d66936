"""`python -m thalweg`, the same as the command `thalweg`."""

from thalweg.cli.program import main

if __name__ == "__main__":
    main(prog_name="thalweg")
