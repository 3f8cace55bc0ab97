"""Makes ZIP archives for tests."""

import io
import zipfile


def zipped(files: dict[str, bytes] | list[tuple[str, bytes]]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in files.items() if isinstance(files, dict) else files:
            file.writestr(name, content)
    return out.getvalue()
