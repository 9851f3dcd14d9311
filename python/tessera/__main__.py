"""python -m tessera: the program."""

import os
import sys


def main():
    """Becomes the program, which is beside this file."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "tessera")
    sys.stdout.flush()
    os.execv(program, ["tessera", *sys.argv[1:]])


if __name__ == "__main__":
    main()
