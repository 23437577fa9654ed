"""How the threads of the index give way to everything else on the machine."""

import os
import sys
from threading import get_native_id

NICENESS = 10


def be_modest() -> None:
    """Lets everything else on the machine go first, where a thread can say so."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, get_native_id(), NICENESS)
