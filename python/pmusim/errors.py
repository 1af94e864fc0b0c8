# SPDX-License-Identifier: MIT
"""What calls raise."""


class Error(Exception):
    """A call that cannot be: what is wrong, where, and what was expected."""


class Fault(Error):
    """A fault that the emulated instruction raises; the text says why.

    ``vector`` is 6 (#UD), 7 (#NM), 13 (#GP) or 14 (#PF), ``error_code`` what the CPU pushes with it, if anything.
    """

    def __init__(self, sentence: str, vector: int, error_code: int | None) -> None:
        super().__init__(sentence, vector, error_code)
        self.vector = vector
        self.error_code = error_code

    def __str__(self) -> str:
        return str(self.args[0])


for _error in (Error, Fault):
    _error.__module__ = "pmusim"
