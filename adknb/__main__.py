"""`python -m adknb` is the command `adknb`."""

import sys

from adknb.cli import main

sys.exit(main())
