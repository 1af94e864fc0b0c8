# SPDX-License-Identifier: MIT
"""Columns, as NumPy and pandas have them."""
from collections.abc import Iterator, Mapping
from typing import Any

import numpy.typing as npt

Column = npt.NDArray[Any]


class Table(Mapping[str, Column]):
    """Columns of one length, by name: ``table["ip"]`` is a NumPy array.

    ``attrs`` is what is said of the whole table.
    """

    def __init__(self, columns: Mapping[str, Column], attrs: Mapping[str, Any] | None = None) -> None:
        self._columns = dict(columns)
        self.attrs: dict[str, Any] = dict(attrs or {})

    def __getitem__(self, name: str) -> Column:
        try:
            return self._columns[name]
        except KeyError:
            raise KeyError(f"no column {name!r}: expected one of {', '.join(self._columns)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return max((len(column) for column in self._columns.values()), default=0)

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame`` of the columns, whose memory it shares, with ``attrs``."""
        import pandas

        frame = pandas.DataFrame(self._columns, copy=False)
        frame.attrs.update(self.attrs)
        return frame

    def __repr__(self) -> str:
        return f"<pmusim.{type(self).__name__}: {self.rows} rows of {', '.join(self._columns)}>"


class Samples(Table):
    """Samples, a row each, in the order of their times.

    There is a column for each field that an event samples. Rows of other events hold perf's default in it: 0, and all
    ones for times, ids and CPUs. What a sample has many of is a table of its own, whose column ``sample`` is the row:

    * ``branches``: last branch records, the newest first;
    * ``callchains``: ``ip``, the innermost first, with perf's marks of context;
    * ``registers``: ``side`` ("user", "interrupt"), ``register`` in perf's names, ``word`` of wide ones, ``value``;
    * ``reads``: ``id`` and ``value`` of the counters that were read with the sample.

    ``lost`` counts the samples and records that the file says were dropped, ``warnings`` what could not be read, and
    ``metadata`` says where a perf.data file is from, and in ``event_ids`` which event an id is.
    """

    def __init__(
        self,
        columns: Mapping[str, Column],
        *,
        branches: Table,
        callchains: Table,
        registers: Table,
        reads: Table,
        lost: int,
        warnings: list[str],
        metadata: dict[str, Any],
    ) -> None:
        super().__init__(columns)
        self.branches = branches
        self.callchains = callchains
        self.registers = registers
        self.reads = reads
        self.lost = lost
        self.warnings = warnings
        self.metadata = metadata


for _table in (Table, Samples):
    _table.__module__ = "pmusim"
