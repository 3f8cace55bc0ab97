import pytest

from index_store.search.near_duplicates import are_near_duplicates

BENEFITS = ("家族手当", "慶弔休暇", "社員食堂の利用", "人間ドックの補助", "資格試験の受験料の補助", "保養所の利用")
TABLE = "| 制度 | 対象 |\n|---|---|\n| 通勤手当 | ○ |\n| 住宅手当 | {} |\n" + "".join(
    f"| {benefit} | ○ |\n" for benefit in BENEFITS
)
NOTICE = (
    "The office on the second floor is open to all staff {} noon on working days. Bring your badge, sign the list at "
    "the desk, and return the keys to the guard when you leave. The fee is {} and is taken from your pay."
)


@pytest.mark.parametrize("ticks", ["○×", "○△", "☑☐"])
def test_tables_that_differ_in_a_tick_are_two(ticks: str) -> None:
    one, other = (TABLE.format(tick) for tick in ticks)
    assert not are_near_duplicates(one, other)
    assert are_near_duplicates(one, one)


@pytest.mark.parametrize(("one", "other"), [("before", "after"), ("午前", "午後"), ("以上", "以下"), ("税込", "税抜")])
def test_texts_that_differ_in_the_side_of_a_limit_are_two(one: str, other: str) -> None:
    texts = [NOTICE.format(side, "税") for side in (one, other)]
    assert not are_near_duplicates(*texts)
    assert are_near_duplicates(NOTICE.format("by", "low"), NOTICE.format("at", "low"))


TERMS = (
    "Either party may end this agreement with {} days' written notice to the address that is named above. All keys, "
    "badges and files are handed back on the last day. The parties keep what they learnt about each other secret."
)
DUTY = (
    "総務課は、各階の給湯室の冷蔵庫を{}に片付けます。名前のない飲み物や食べ物は捨てますので、残したいものには名前と日付を書いて"
    "ください。冷凍庫の保冷剤は備え付けの箱に入れ、使った布巾は洗って干してください。"
)


@pytest.mark.parametrize(
    ("text", "one", "other"),
    [
        (TERMS, "ninety", "thirty"),
        (TERMS, "Ninety", "Sixty"),
        (DUTY, "二千五百円まで", "三千円まで"),
        (DUTY, "金曜日", "月曜日"),
        (NOTICE.format("by", "{}"), "paid on Friday", "paid on Monday"),
        (NOTICE.format("by", "{}"), "due in March", "due in April"),
    ],
)
def test_texts_that_differ_in_a_number_or_a_day_in_words_are_two(text: str, one: str, other: str) -> None:
    assert not are_near_duplicates(text.format(one), text.format(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("支給して", "支給せず"),
        ("上限", "下限"),
        ("事前", "事後"),
        ("最低", "最高"),
        ("繰り越すことができる", "繰り越すことができない"),
        ("It may be carried over", "It may not be carried over"),
        ("It may be paid in advance", "It can't be paid in advance"),
        ("対象", "対象外"),
        ("翌月", "当月"),
        ("毎月", "毎年"),
        ("paid", "unpaid"),
    ],
)
def test_texts_of_which_one_says_the_opposite_are_two(one: str, other: str) -> None:
    assert not are_near_duplicates(DUTY.format(one), DUTY.format(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("allowed", "forbidden"),
        ("mandatory", "optional"),
        ("on weekdays", "at weekends"),
        ("at the minimum", "at the maximum"),
        ("within an hour of", "within a day of"),
        ("included from", "excluded from"),
        ("of internal teams", "of external teams"),
        ("above level 3", "below level 3"),
        ("of the supplier", "of the customer"),
        ("of the employer's", "of the employees'"),
    ],
)
def test_english_texts_of_which_one_says_the_opposite_are_two(one: str, other: str) -> None:
    assert not are_near_duplicates(NOTICE.format(one, "low"), NOTICE.format(other, "low"))


@pytest.mark.parametrize(("one", "other"), [("平日", "休日"), ("上期", "下期"), ("必須の日", "任意の日")])
def test_texts_of_days_and_duties_of_two_kinds_are_two(one: str, other: str) -> None:
    assert not are_near_duplicates(DUTY.format(one), DUTY.format(other))


def test_what_you_must_do_is_not_what_you_may_do() -> None:
    assert not are_near_duplicates(TERMS.format("10"), TERMS.format("10").replace("may", "must"))


def test_equal_texts_of_two_places_are_one_whatever_is_asked() -> None:
    one, other = NOTICE.format("by", "low"), NOTICE.format("at", "low")
    places = ("東京支社 経費", "大阪支社 経費")
    assert are_near_duplicates(one, one, ["大阪"], places)
    assert are_near_duplicates(one, other, ["経費"], places)
    assert not are_near_duplicates(one, other, ["大阪"], places)


@pytest.mark.parametrize(
    ("written", "asked"), [("髙橋", "高橋"), ("渡邊", "渡辺"), ("渡邉", "渡邊"), ("德永", "徳永"), ("五十人", "50人")]
)
def test_texts_are_two_however_the_question_writes_the_name_in_which_they_differ(written: str, asked: str) -> None:
    one, other = DUTY.format(f"{written}が金曜日"), DUTY.format("佐藤が金曜日")
    assert not are_near_duplicates(one, other, [asked])
