"""Four small documents in two languages, which have no fact in common."""

from pathlib import Path

INDEX = "規程"

DOCUMENTS = {
    "travel.ja.md": (
        "# 出張旅費規程\n\n"
        "## 第3条 日当\n\n日当は1日2,500円です。\n\n"
        "## 第4条 宿泊\n\n宿泊費は1泊12,000円を上限とします。\n\n"
        "## 第5条 鉄道\n\nグリーン車の利用には部長の承認が必要です。\n"
    ),
    "leave.en.md": (
        "# Leave\n\n"
        "## Annual leave\n\nStaff have twenty days of paid annual leave a year.\n\n"
        "## Sick leave\n\nA doctor's note is needed from the third day of sickness on.\n"
    ),
    "vpn.en.md": "# VPN\n\n## Client\n\nThe VPN client is called HazeGate. Install it from the software portal.\n",
    "kitchen.ja.txt": "給湯室の冷蔵庫は毎週金曜日に掃除します。名前のない食品は捨てられます。\n",
}

QUESTION = "出張の日当はいくらですか?"
"""which ALLOWANCE answers"""
ANSWER = "日当は1日2,500円です[1]。"

ALLOWANCE = "日当は1日2,500円です。"
LEAVE = "Staff have twenty days of paid annual leave a year."
CLIENT = "The VPN client is called HazeGate."


def write_documents(folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / name for name in DOCUMENTS]
    for file, text in zip(files, DOCUMENTS.values(), strict=True):
        file.write_text(text, encoding="utf-8")
    return files
