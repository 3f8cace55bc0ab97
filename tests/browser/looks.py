"""How a page is looked at: languages, widths and colours.

`make test` looks twice, at each of them once; `make soak` in every combination.
"""

import pytest

each_look = pytest.mark.parametrize(
    ("language", "width", "scheme"),
    [
        ("ja", 1280, "dark"),
        ("en", 390, "light"),
        *(
            pytest.param(*look, marks=pytest.mark.soak)
            for look in (
                ("ja", 1280, "light"),
                ("ja", 390, "light"),
                ("ja", 390, "dark"),
                ("en", 1280, "light"),
                ("en", 1280, "dark"),
                ("en", 390, "dark"),
            )
        ),
    ],
)
each_width = pytest.mark.parametrize(
    ("language", "width"),
    [
        ("ja", 390),
        ("en", 1280),
        pytest.param("ja", 1280, marks=pytest.mark.soak),
        pytest.param("en", 390, marks=pytest.mark.soak),
    ],
)
"""where both colours are looked at, or none matters"""
each_language = pytest.mark.parametrize("language", ["ja", pytest.param("en", marks=pytest.mark.soak)])
"""where nothing but words is another"""
