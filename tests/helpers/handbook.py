"""A small document in two languages, and the reply of a grader who finds a passage relevant."""

import json

HANDBOOK = (
    "# 出張旅費規程\n\n## 日当\n\n一般社員の国内出張の日当は1日2,500円です。\n\n"
    "## Trains\n\nThe green car needs the approval of a director.\n"
)
YES = json.dumps({"reason": "It says so.", "verdict": "yes", "score": 0.9})
