# SPDX-License-Identifier: Apache-2.0
"""Tables for notebooks. Every text is escaped, and nothing is loaded from anywhere."""
import html
from typing import Any, Iterable, Sequence


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return html.escape(f"{value:.6g}" if isinstance(value, float) else str(value))


def paragraph(text: str) -> str:
    return f"<p>{html.escape(text)}</p>"


def preformatted(text: str) -> str:
    return f"<pre>{html.escape(text)}</pre>"


def table(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    lines = ("<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
