"""Texts for the tests of the splitter and the chunker."""

JAPANESE = (
    "出張の日当は1日2,500円です。宿泊を伴わないときは、半額になります。「確認してください。」と書かれています。\n"
)
ENGLISH = "The allowance is paid per day. Where no night is spent away, half of it is paid! Ask the office first.\n"
TABLE = "| 品番 | 価格 |\n| --- | --- |\n" + "".join(f"| A-{n} | {n * 100}円 |\n" for n in range(60))
