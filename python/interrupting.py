# SPDX-License-Identifier: MIT
"""Ctrl-C, as a test presses it."""
import os
import signal
import threading
import time
from collections.abc import Callable


def press_soon() -> threading.Thread:
    """Once the main thread is in a long call."""

    def press() -> None:
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    return thread


def seconds_to_hear(call: Callable[[], object]) -> float:
    """From Ctrl-C to the KeyboardInterrupt that ends the call."""
    thread = press_soon()
    begun = time.monotonic()
    try:
        call()
    except KeyboardInterrupt:
        return time.monotonic() - begun - 0.3
    finally:
        thread.join()
    raise AssertionError("the call ended before Ctrl-C")
