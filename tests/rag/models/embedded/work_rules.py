"""Two passages of work rules, and a question that the first one answers."""

from benchmarks.grading import passage

QUESTION = "日帰り出張の日当はいくらですか?"
ALLOWANCE = "日当は1日につき2,500円とする。宿泊を伴わない日帰り出張の日当は、その半額の1,250円とする。"
LEAVE = "年次有給休暇は、入社から6か月が経過した社員に10日付与する。"
PASSAGES = [passage(1, ALLOWANCE, "就業規則"), passage(2, LEAVE, "就業規則")]
