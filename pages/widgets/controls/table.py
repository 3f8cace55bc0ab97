"""Tables, which people can save as a CSV file: Streamlit writes their names and cells into it."""

from collections.abc import Mapping
from typing import Any

import pandas as pd  # type: ignore[import-untyped]  # its stubs are another package, with its own version

from pages.words.names import WORD_JOINER


def cell(text: str) -> str:
    """Other people's text. In Excel, where the file is opened, it must not begin a formula: in Japanese, one may begin
    with a wide sign too (https://owasp.org/www-community/attacks/CSV_Injection).
    """
    return f"{WORD_JOINER}{text}" if text.startswith(tuple("=+-@＝＋－＠")) else text


def titled(frame: pd.DataFrame, columns: Mapping[str, Any]) -> dict[str, Any]:
    """What `st.dataframe` needs, with the titles of the columns as their names: the file has the names.

    `columns`: the `column_config`, by name in the frame. Buttons are not in the file, so their column keeps its name.
    """
    titles = {name: column["label"] for name, column in columns.items() if isinstance(column, dict)}
    return {
        "data": frame.rename(columns=titles),
        "column_config": {titles.get(name, name): column for name, column in columns.items()},
    }
