"""What a measure returns: tables to read, bars met or missed, and what could not be measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Cell = str | float | int | None
"""A ratio, a count or a word; ``None`` where there is nothing to say."""


@dataclass
class Table:
    """Rows under named columns; the first column names the row."""

    title: str
    columns: Sequence[str]
    rows: list[list[Cell]] = field(default_factory=list)

    def add(self, *cells: Cell) -> None:
        """One more row, as long as there are columns."""
        if len(cells) != len(self.columns):
            raise ValueError(f"{self.title}: {len(cells)} cells for {len(self.columns)} columns")
        self.rows.append([round(c, 4) if isinstance(c, float) else c for c in cells])

    def as_dict(self) -> dict[str, Any]:
        """Each row as an object."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return {"title": self.title, "columns": list(self.columns), "rows": rows}

    def text(self) -> str:
        """Columns padded to their widest cell."""
        shown = [list(self.columns), *([_shown(cell) for cell in row] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
        lines = [
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in shown
        ]
        return "\n".join([self.title, lines[0], "-" * len(lines[0]), *lines[1:]])


@dataclass(frozen=True)
class Bar:
    """A value beside what it should be; ``None`` where it could not be measured."""

    name: str
    value: float | None
    bar: float
    kind: Literal["at least", "at most", "above"] = "at least"

    @property
    def met(self) -> bool | None:
        """Whether the value passes; ``None`` if there is none."""
        if self.value is None:
            return None
        if self.kind == "at least":
            return self.value >= self.bar
        return self.value > self.bar if self.kind == "above" else self.value <= self.bar

    def as_dict(self) -> dict[str, Any]:
        """The bar as JSON values."""
        value = None if self.value is None else round(self.value, 4)
        bar = {"name": self.name, "value": value, "kind": self.kind, "bar": round(self.bar, 4)}
        return {**bar, "met": self.met}

    def text(self) -> str:
        """One line."""
        word = {True: "met", False: "MISSED", None: "not available"}[self.met]
        return f"{word:13}  {self.name}: {_shown(self.value)} ({self.kind} {self.bar:g})"


@dataclass
class Measured:
    """The outcome of one measure."""

    tables: list[Table] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    """What was left out, with the reason."""

    def as_dict(self) -> dict[str, Any]:
        """The outcome as JSON values."""
        return {
            "tables": [table.as_dict() for table in self.tables],
            "bars": [bar.as_dict() for bar in self.bars],
            "notes": self.notes,
            "skipped": self.skipped,
        }

    def text(self) -> str:
        """The outcome for people."""
        parts = [table.text() for table in self.tables]
        lines = [f"note: {note}" for note in self.notes]
        lines += [f"skipped: {reason}" for reason in self.skipped]
        lines += [bar.text() for bar in self.bars]
        return "\n\n".join([*parts, "\n".join(lines)] if lines else parts)


@dataclass
class Score:
    """Counts of a yes-or-no decision against the truth."""

    hits: int = 0
    false: int = 0
    missed: int = 0
    passed: int = 0

    def add(self, said: bool, true: bool) -> None:
        """Count one decision."""
        self.hits += said and true
        self.false += said and not true
        self.missed += true and not said
        self.passed += not said and not true

    @property
    def precision(self) -> float | None:
        """Share of what was said that is true; ``None`` if nothing was said."""
        return ratio(self.hits, self.hits + self.false)

    @property
    def recall(self) -> float | None:
        """Share of what is true that was said."""
        return ratio(self.hits, self.hits + self.missed)

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall; 0 if nothing right was said."""
        return ratio(2 * self.hits, 2 * self.hits + self.false + self.missed)


def ratio(part: float, whole: float) -> float | None:
    """``part / whole``; ``None`` for an empty whole."""
    return part / whole if whole else None


def mean(values: Sequence[float | None]) -> float | None:
    """Mean of what is known."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _shown(cell: Cell) -> str:
    if cell is None:
        return "-"
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)
