"""python -m tessera: the program."""

import os
import sys


def main():
    """Becomes the program, which is beside this file, or in a package of the system by itself."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "tessera")
    sys.stdout.flush()
    os.execvp(program if os.path.exists(program) else "tessera", ["tessera", *sys.argv[1:]])


if __name__ == "__main__":
    main()
