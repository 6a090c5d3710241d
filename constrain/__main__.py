"""`python -m constrain` is the `constrain` command."""

from constrain.cli import main

if __name__ == "__main__":
    main()
