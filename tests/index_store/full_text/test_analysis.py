import random
import threading
import unicodedata
from itertools import chain

import pytest

from index_store.full_text.analysis import Analyzer
from index_store.full_text.folding import fold
from index_store.full_text.glossary import Glossary
from index_store.full_text.sudachi import PIECE
from index_store.full_text.words import LONGEST, DropReason, words_in_order


@pytest.fixture(scope="module")
def analyzer() -> Analyzer:
    return Analyzer()


def words(analyzer: Analyzer, text: str) -> list[str]:
    return [term.text for term in analyzer.terms(text).words]


def pairs(analyzer: Analyzer, text: str) -> list[str]:
    return [term.text for term in analyzer.terms(text).pairs]


def written(analyzer: Analyzer, text: str) -> list[str]:
    """For each term, the text at its offsets."""
    return [text[term.start : term.end] for term in analyzer.terms(text).words]


# Words


def test_particles_auxiliaries_and_signs_are_not_searched(analyzer):
    assert words(analyzer, "日当は、出張の日に支給されました。") == ["日当", "出張", "日", "支給", "為る"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("サーバ", "サーバー"),
        ("ｻｰﾊﾞｰ", "サーバー"),
        ("引越し", "引っ越し"),
        ("教えた", "教えて"),
        ("附属", "付属"),
        ("申し込み書", "申込書"),
        ("振り込み手数料", "振込手数料"),
        ("貸し出し期間", "貸出期間"),
        ("読み取り", "読取"),
        ("繰り越し", "繰越"),
        ("申し込む", "申込"),
        ("立て替えた", "立替"),
        ("払い戻す", "払戻し"),
        ("問い合わせる", "問合せ"),
        ("支払う", "支払い"),
        ("受け取れる", "受取"),
        ("休みを取れる", "休みを取る"),
        ("休める", "休む"),
        ("登れる", "登る"),
        ("休みがとれる", "休みを取る"),
        ("履歴を見れる", "履歴を見る"),
        ("食べれる", "食べられる"),
        ("借りれる", "借りる"),
        ("変えれない", "変える"),
        ("社員証をなくした", "社員証を無くす"),
        ("１２３", "123"),
        ("ＡＢＣ", "abc"),
        ("髙島屋", "高島屋"),
        ("山﨑", "山崎"),
        ("渡邉", "渡邊"),
        ("國學院", "国学院"),
        ("葛\U000e0100城", "葛城"),
        ("\u2f00", "一"),  # Kangxi radicals, which occur in PDFs
        ("社⻑と⺠宿の⻄⼝", "社長と民宿の西口"),  # more radicals, which have no form in NFKC
        ("2,500円", "2500円"),
        ("二千五百円", "2500円"),
        ("Straße", "STRASSE"),
        ("café", "cafe\u0301"),
        ("Müller", "muller"),
        ("policies", "policy"),
        ("forgotten passwords", "forget passwords"),
        ("lost", "losing"),
        ("paid", "pays"),
        ("written", "writing"),
        ("withheld", "withholding"),
        ("overpaid", "overpayments"),
        ("rewritten", "rewrite"),
        ("undertaken", "undertaking"),
        ("overridden", "override"),
        ("presented", "present"),
        ("resented", "resent"),
        ("forbidden", "forbids"),
        ("learnt", "learned"),
        ("half", "halves"),
        ("indices", "indexes"),
        ("cheques", "check"),
        ("grey", "gray"),
        ("enquiry", "inquiries"),
        ("orthopaedic", "orthopedics"),
        ("HR dept.", "HR department"),
        ("12 hrs", "12 hours"),
        ("the children’s", "the child"),
        ("analyses", "analysis"),
        ("practising", "practice"),
        ("the printers", "the printer"),
        ("running", "runs"),
        ("employee’s", "employees"),
        ("co\u00adoperate", "cooperate"),
        ("500MB", "500 MB"),
        ("1,000kg", "1000 kg"),
        ("2.5GB", "2.5 GB"),
        ("10m", "10 m"),
        ("Windows 3.11", "Windows3.11"),
        ("v1.2.3", "v 1.2.3"),
        ("‘B’", "B"),
        ("NDAs", "NDA"),
        ("ＰＣｓ", "PC"),
        ("authorise", "authorize"),
        ("organisations", "organization"),
        ("advertise", "advertisements"),
        ("analysed", "analyze"),
        ("colour", "color"),
        ("centre", "centers"),
        ("licence", "license"),
        ("programmes", "program"),
        ("judgement", "judgments"),
        ("revise", "revision"),
        ("appraise", "appraisal"),
        ("difference", "different"),
        ("precise", "precisely"),
        ("promised", "promises"),
        ("飛驒市", "飛騨市"),
        ("麴町", "麹町"),
        ("№12", "No.12"),
        ("50㎡", "50 m²"),
        ("ごみ", "ゴミ"),
        ("がん検診", "ガン検診"),
        ("霞ヶ関", "霞が関"),
        ("鎌ケ谷", "鎌ヶ谷"),
        ("つつじヶ丘", "つつじが丘"),
        ("虎ノ門", "虎の門"),
        ("三ヶ月", "三か月"),
        ("通勤手当て", "通勤手当"),
        ("出入り", "出入"),
        ("朝食付きプラン", "朝食付プラン"),
        ("ワイファイ", "WiFi"),
        ("グーグル", "Google"),
        ("ウィンドウズ", "Windows"),
        ("カレンダ", "カレンダー"),
        ("スケジューラ機能", "スケジューラー機能"),
        ("ラミネータ", "ラミネーター"),
        ("斉藤さん", "齋藤さん"),
        ("桧山", "檜山"),
        ("篭橋", "籠橋"),
        ("礒野と小埜と穐山", "磯野と小野と秋山"),
        ("靏田と凉子", "鶴田と涼子"),
        ("メモリの増設", "メモリーの増設"),
        ("フラッシュメモリ", "フラッシュメモリー"),
        ("一・二五倍", "1.25倍"),
        ("二・五か月分", "２．５か月分"),
    ],
)
def test_spellings_of_one_word_are_one_term(analyzer, one, other):
    assert words(analyzer, one) == words(analyzer, other) != []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("高い", "低い"),
        ("ドラマ", "ドラマー"),
        ("3.1", "31"),
        ("v1", "v2"),
        ("辯", "瓣"),
        ("university", "printer"),
        ("2.5GB", "5GB"),
        ("12a", "12b"),
        ("2SC1815", "2SC1816"),
        ("four", "for"),
        ("our", "or"),
        ("as", "a"),
        ("left", "leave"),
        ("found", "find"),
        ("亡くした", "無くした"),
        ("見る", "取る"),
    ],
)
def test_other_words_are_other_terms(analyzer, one, other):
    assert words(analyzer, one) != words(analyzer, other)


@pytest.mark.parametrize(
    ("kanji", "digits"),
    [
        ("五十人以上", "50人以上"),
        ("十人", "10人"),
        ("千二百人", "1200人"),
        ("三十日", "30日"),
        ("四十日以内", "40日以内"),
        ("二親等", "2親等"),
        ("一級", "1級"),
        ("十二級", "12級"),
        ("第一回", "第1回"),
        ("二十歳", "20歳"),
        ("休憩は三十分とする", "休憩は30分とする"),
        ("所要時間は十分以内", "所要時間は10分以内"),
        ("第四条の規定により", "第4条の規定により"),
        ("第二十四条", "第24条"),
        ("前四条の規定", "前4条の規定"),
        ("日額八千円", "日額8,000円"),
        ("上限は四十万円", "上限は40万円"),
        ("金壱百弐拾萬圓也", "金120万円也"),
        ("金参拾五万円", "金35万円"),
        ("金百五拾円", "金150円"),
        ("写しを二部提出する", "写しを2部提出する"),
        ("第三学期", "第3学期"),
        ("三交代の職場", "3交代の職場"),
        ("五丁目", "5丁目"),
        ("三番地", "3番地"),
        ("五本のペン", "5本のペン"),
        ("定員は百名", "定員は100名"),
        ("二十戸の住宅", "20戸の住宅"),
        ("三六協定", "36協定"),
        ("二次評価", "2次評価"),
    ],
)
def test_a_kanji_number_before_a_counter_is_the_number_in_digits(analyzer, kanji, digits):
    assert words(analyzer, kanji) == words(analyzer, digits)
    assert pairs(analyzer, kanji) == pairs(analyzer, digits)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("四日市の工場", "四日市"),
        ("千歳市の工場", "千歳"),
        ("一人で", "一人"),
        ("十分に休む", "十分"),
        ("一部の社員", "一部"),
        ("四条通の店", "四条通"),
        ("拾得物の届出", "拾得"),
        ("六本木の店", "六本木"),
        ("八戸の工場", "八戸"),
        ("同一名義の口座", "同一"),
    ],
)
def test_a_numeral_inside_a_name_is_no_number(analyzer, text, word):
    assert words(analyzer, text)[0] == word


def test_each_script_of_a_text_is_analysed_as_its_language(analyzer):
    assert words(analyzer, "VPN接続のpoliciesを確認") == ["vpn", "接続", "polici", "確認"]


def test_a_reading_in_brackets_is_found(analyzer):
    assert set(words(analyzer, "つゆ")) <= set(words(analyzer, "梅雨（つゆ）は雨の季節"))


def test_korean_is_found_by_its_words_and_by_pairs(analyzer):
    assert words(analyzer, "한국어 문서") == ["한국어", "문서"]
    assert pairs(analyzer, "한국어") == ["한국", "국어"]


def test_numbers_and_addresses_stay_whole(analyzer):
    assert words(analyzer, "3.14 and 192.168.0.1, 1,2") == ["3.14", "and", "192.168.0.1", "1,2"]


@pytest.mark.parametrize(
    "code", ["E-417", "e-417", "Ｅ－４１７", "E\u2011417", "E\u2013417", "Eー417", "E417", "エラーE-417"]
)
def test_a_code_is_one_word_with_its_hyphen_or_without(analyzer, code):
    assert "e417" in words(analyzer, code)
    assert "e417" in analyzer.question(f"{code}とは何ですか").kept


def test_the_parts_of_a_code_are_found_too(analyzer):
    assert words(analyzer, "様式HG-10-b") == ["様式", "hg10b", "hg", "10", "b"]
    found = analyzer.question("HG-10とは")
    assert (found.kept, found.parts) == (("hg10",), {"hg10": ("hg", "10")})
    assert [word.dropped for word in found.words[:3]] == [None, DropReason.PART, DropReason.PART]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Wi-Fi", "WiFi"),
        ("ＷｉーＦｉ", "wifi"),
        ("e-mails", "email"),
        ("on-site", "onsite"),
        ("co-operate", "cooperated"),
        ("R&D", "RD"),
        ("Ｑ＆Ａ", "QA"),
        ("U.S.", "US"),
        ("401(k)", "401k"),
        ("デ－タ", "データ"),
        ("コ―ド", "コード"),
        ("ｻ-ﾋﾞｽ", "サービス"),
    ],
)
def test_a_word_with_a_hyphen_is_also_the_word_without_it(analyzer, one, other):
    assert words(analyzer, one)[0] == words(analyzer, other)[0]
    assert analyzer.question(one).kept == analyzer.question(other).kept


@pytest.mark.parametrize("text", ["東京-大阪", "ロンドン－パリ", "データ - "])
def test_a_dash_between_names_is_no_long_vowel(analyzer, text):
    assert not any("ー" in word for word in words(analyzer, text.replace("データ", "テスト")))


@pytest.mark.parametrize(("one", "other"), [("Windows11", "Windows 11"), ("HG10", "HG 10"), ("FY2024", "FY 2024")])
def test_a_word_with_a_number_is_also_the_word_and_the_number(analyzer, one, other):
    whole, *parts = words(analyzer, one)
    assert parts == words(analyzer, other)
    assert analyzer.question(one).parts == {whole: tuple(parts)}


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("I can't log in", "Login problems"),
        ("login", "Log in to the VPN"),
        ("logged in", "log-in"),
        ("setting up", "the setup"),
        ("backup", "back up your files"),
        ("check-in", "Check in at the desk"),
    ],
)
def test_a_verb_with_its_particle_is_also_its_noun(analyzer, question, text):
    assert set(analyzer.question(question).kept) & set(words(analyzer, text))


def test_the_end_of_a_code_is_found_by_itself(analyzer):
    assert analyzer.question("AB12").kept[0] in words(analyzer, "様式SUB-AB12")
    assert analyzer.question("SUB-AB12").parts == {"subab12": ("sub", "ab12", "ab", "12")}


@pytest.mark.parametrize(
    ("era", "year"),
    [
        ("令和6年度", "2024"),
        ("令和六年四月", "2024"),
        ("㋿６年", "2024"),
        ("令和元年", "2019"),
        ("平成31年", "2019"),
        ("昭和六十四年", "1989"),
        ("平成二三年", "2011"),
        ("令和一〇年", "2028"),
        ("大正15年", "1926"),
        ("明治元年", "1868"),
        ("R6年度", "2024"),
        ("発行日H30.4.1", "2018"),
        ("発行日R6/4/1", "2024"),
        ("令６．４．１", "2024"),
        ("（昭47.7.1）", "1972"),
        ("議事録 R6.4", "2024"),
        ("H31.04～R2.3", "2019"),
        ("Ｓ６３．４", "1988"),
        ("令和6.4", "2024"),
        ("平成31/4", "2019"),
        ("R元年度", "2019"),
        ("FY24", "2024"),
        ("FY24の計画", "2024"),
        ("FY'25 plan", "2025"),
    ],
)
def test_a_year_of_an_era_is_also_the_year_of_the_calendar(analyzer, era, year):
    assert year in words(analyzer, era)
    assert year in analyzer.question(era).kept


@pytest.mark.parametrize("written", ["Q1", "1Q", "第1四半期", "第一四半期", "the first quarter"])
def test_a_quarter_is_one_word_however_it_is_written(analyzer, written):
    assert words(analyzer, written).count("q1") == 1
    assert "q1" in analyzer.question(f"{written} results").kept


@pytest.mark.parametrize("text", ["5Q", "FAQ1", "1.1q", "第5四半期", "1qt"])
def test_what_is_no_quarter_is_none(analyzer, text):
    assert "q1" not in words(analyzer, text)


def test_the_year_of_an_era_is_searched_by_its_parts_too_and_marked_whole(analyzer):
    assert analyzer.question("令和6年度の予算").parts == {"2024": ("令和", "6")}
    text = "令和6年4月1日から"
    assert [text[start:end] for start, end in analyzer.matches(analyzer.question("2024年とは"), text)] == ["令和6年"]


@pytest.mark.parametrize(
    "text",
    [
        "明治大学", "平成30人", "昭和10年代", "XR6年", "R6", "拡大3.4.1", "R6-4-1", "R6.13", "M2.5", "S3/4", "VR6.4",
        "令和〇年", "FY241", "Defy24",
    ],
)  # fmt: skip
def test_an_era_without_a_year_is_none(analyzer, text):
    assert not any(word.isdecimal() and len(word) == 4 for word in words(analyzer, text))


def test_the_year_of_a_day_with_points_is_found_by_itself(analyzer):
    for text in ("施行日 2024.4.1", "２０２４．０４．０１"):
        assert {"2024", "4/1"} < set(words(analyzer, text))
    assert "2024" not in words(analyzer, "版 2024.4.1.5、額 2024.45")


@pytest.mark.parametrize(
    "month", ["2024.4", "2024.04", "2024/4", "2024/04", "２０２４．４", "2024.4月号", "R6.4", "令6.04", "R06/04"]
)
def test_the_year_and_the_month_of_a_month_are_found_by_themselves(analyzer, month):
    assert {"2024", "4"} <= set(words(analyzer, f"議事録 {month}"))
    found = analyzer.question(f"議事録 {month}")
    assert {"2024", "4"} <= {*found.kept, *chain(*found.parts.values())}


@pytest.mark.parametrize("text", ["2024.13", "2024.4.1.5", "12024.4", "3.2024.4", "2024.45", "1524.4"])
def test_what_is_no_month_is_none(analyzer, text):
    assert words(analyzer, text) == [text]


def test_a_question_with_a_day_with_points_searches_its_year_and_its_day_too(analyzer):
    assert analyzer.question("2024.4.1の会議").parts == {"2024.4.1": ("2024", "4/1")}
    found = analyzer.question("R6.4.1の会議")
    assert (found.kept, found.parts["6.4.1"]) == (("2024", "6.4.1", "会議"), ("4/1",))


@pytest.mark.parametrize(("with_kana", "without"), [("骨折り", "骨折"), ("川越え", "川越"), ("一切れ", "一切")])
def test_what_is_another_word_without_its_last_kana_stays_apart(analyzer, with_kana, without):
    assert words(analyzer, with_kana) != words(analyzer, without)


@pytest.mark.parametrize(
    ("written", "time"),
    [
        ("午後3時", "15:00"),
        ("午後 ３ 時まで", "15:00"),
        ("正午まで", "12:00"),
        ("by noon", "12:00"),
        ("午後三時半", "15:30"),
        ("午前九時三十分", "9:30"),
        ("午前九時十分", "9:10"),
        ("午前一〇時", "10:00"),
        ("午後一二時", "12:00"),
        ("終業は十七時三十分", "17:30"),
        ("八時半から", "8:30"),
        ("15時30分", "15:30"),
        ("15:30", "15:30"),
        ("午前9時", "9:00"),
        ("午前０９：０５", "9:05"),
        ("午後0時15分", "12:15"),
        ("3 p.m.", "15:00"),
        ("3:05PM", "15:05"),
        ("open 9.00am-5.30pm", "17:30"),
        ("12 am", "0:00"),
        ("営業時間 AM10:00〜PM5:30", "17:30"),
        ("9時～17時", "17:00"),
        ("夜10時以降", "22:00"),
        ("夜の７時半", "19:30"),
        ("夕方5時に閉まる", "17:00"),
        ("昼1時", "13:00"),
        ("昼12時", "12:00"),
        ("深夜2時", "2:00"),
        ("朝の8時", "8:00"),
        ("午後の3時", "15:00"),
        ("今夜8時", "20:00"),
    ],
)
def test_a_time_of_day_is_one_word_however_it_is_written(analyzer, written, time):
    assert time in words(analyzer, written)
    assert time in analyzer.question(written).kept


def test_a_time_of_day_is_searched_by_its_parts_too_and_marked_whole(analyzer):
    assert analyzer.question("午後3時の会議").parts == {"15:00": ("午後", "3", "時")}
    text = "締切は15時です。"
    assert [text[start:end] for start, end in analyzer.matches(analyzer.question("午後3時とは"), text)] == ["15時"]


@pytest.mark.parametrize(
    "text", ["24時間", "5時限", "一時金", "25:61", "1:2:3", "3 pmol", "I am 3", "午後の3人", "昼夜3人", "夜3回"]
)
def test_what_is_no_time_of_day_is_none(analyzer, text):
    assert not any(":" in word for word in words(analyzer, text))


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("10月1日", "10/1"),
        ("一二月二五日", "12/25"),
        ("１０月０１日", "10/1"),
        ("四月一日", "4/1"),
        ("十二月三十一日", "12/31"),
        ("2024年10月1日", "10/1"),
        ("2024/10/01", "10/1"),
        ("2024-10-01", "10/1"),
        ("締切は10/1です", "10/1"),
        ("2024/4/1～2025/3/31", "3/31"),
        ("closed on Dec. 25", "12/25"),
        ("December 25th, 2024", "12/25"),
        ("25 Dec 2024", "12/25"),
        ("the 25th of December", "12/25"),
        ("Sept 3", "9/3"),
        ("1st May", "5/1"),
        ("12/25/2024", "12/25"),
        ("25/12/2024", "12/25"),
        ("25-12-2024", "12/25"),
        ("due 3/4/2024.", "3/4"),
    ],
)
def test_a_day_is_one_word_however_it_is_written(analyzer, written, day):
    assert day in words(analyzer, written)
    assert day in analyzer.question(written).kept


@pytest.mark.parametrize(
    ("written", "day"), [("2024.10.1", "10/1"), ("R6.4.1", "4/1"), ("令和6.04.01", "4/1"), ("25.12.2024", "12/25")]
)
def test_a_day_in_a_number_with_points_is_found_too(analyzer, written, day):
    assert day in words(analyzer, written)


def test_a_day_is_searched_by_its_parts_too_and_marked_whole(analyzer):
    assert analyzer.question("10月1日の会議").parts == {"10/1": ("10", "月", "1", "日")}
    text = "締切は2024/10/01です。"
    assert [text[start:end] for start, end in analyzer.matches(analyzer.question("10月1日"), text)] == ["10/01"]


@pytest.mark.parametrize("asked", ["March 4th, 2024", "3 April 2024", "2024-03-04"])
def test_a_day_whose_month_may_stand_first_or_second_is_found_as_both(analyzer, asked):
    assert {*analyzer.question(asked).kept} <= {*words(analyzer, "Valid from 03/04/2024.")}
    assert analyzer.question("3/4/2024").parts == {"3/4": ("4/3", "3", "4")}


def test_the_year_behind_a_day_with_points_is_found(analyzer):
    assert "2024" in words(analyzer, "25.12.2024")


@pytest.mark.parametrize(
    "text",
    [
        "13月1日",
        "10月1日間",
        "24/7",
        "1/2/3",
        "192.168.10.1",
        "03-1234-5678",
        "1.10.1",
        "10/1/2024/5",
        "13/13/2024",
        "Dec 2024",
        "Article 5 may be read",
        "Dec 40",
        "in 2024 December",
        "mayor 5",
        "3.5 Dec",
    ],
)
def test_what_is_no_day_is_none(analyzer, text):
    assert not any("/" in word for word in words(analyzer, text))


def test_the_stopwords_in_a_word_with_hyphens_are_no_parts_of_it(analyzer):
    found = analyzer.question("state-of-the-art Wi-Fi")
    assert found.parts == {"stateoftheart": ("state", "art"), "wifi": ("wi", "fi")}


def test_the_parts_of_a_word_with_hyphens_are_marked(analyzer):
    text = "Wi-Fi, WiFi and Wi Fi"
    found = analyzer.matches(analyzer.question("Wi-Fi"), text)
    assert [text[start:end] for start, end in found] == ["Wi-Fi", "WiFi", "Wi", "Fi"]


def test_a_long_vowel_is_no_hyphen(analyzer):
    assert words(analyzer, "サーバー2") == ["サーバー", "2"]


@pytest.mark.parametrize("text", ["2024-04", "12-345-6", "03-1234-5678-9", "100-0001-2", "10-day", "A -1"])
def test_numbers_with_hyphens_keep_their_parts_only(analyzer, text):
    assert len(words(analyzer, text)) == len(text.replace("-", " ").split())


@pytest.mark.parametrize(
    "written",
    [
        "0312345678",
        "03-1234-5678",
        "０３－１２３４－５６７８",
        "03ー1234ー5678",
        "(03)1234-5678",
        "（０３）１２３４－５６７８",
        "03(1234)5678",
        "03 1234 5678",
        "+81-3-1234-5678",
        "+81 (0)3-1234-5678",
    ],
)
def test_a_telephone_number_is_one_word_however_it_is_written(analyzer, written):
    assert "0312345678" in words(analyzer, f"総務部 電話{written}、内線12")
    assert analyzer.question(f"{written}はどこの番号か").kept[0] == "0312345678"


@pytest.mark.parametrize(
    ("written", "amount"),
    [
        ("$1.5k", "1500"),
        ("1.5k USD", "1500"),
        ("$1,500.00", "1500"),
        ("USD 1,500.00", "1500"),
        ("1,500.00", "1500"),
        ("€99.90", "99.9"),
        ("£2M", "2000000"),
        ("2.5 million", "2500000"),
        ("1.5 million yen", "1500000"),
        ("150万円", "1500000"),
        ("a $20bn deal", "20000000000"),
    ],
)
def test_an_amount_is_one_word_however_it_is_written(analyzer, written, amount):
    assert amount in words(analyzer, written)
    assert amount in analyzer.question(written).kept


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("10k", ["10k"]),
        ("50m", ["50", "m"]),
        ("$100 m", ["100", "m"]),
        ("2.10", ["2.10"]),
        ("2.00.1", ["2.00.1"]),
        ("12.50", ["12.50"]),
        ("$99.99", ["99.99"]),
    ],
)
def test_what_is_no_amount_has_only_its_own_words(analyzer, text, found):
    assert words(analyzer, text) == found


@pytest.mark.parametrize(
    ("written", "count"),
    [
        ("Self-certify for seven days", "7"),
        ("Ten business days", "10"),
        ("a three-month probation", "3"),
        ("thirty-five hours a week", "35"),
        ("Ninety (90) days", "90"),
        ("five per cent", "5%"),
        ("after one year", "1"),
    ],
)
def test_a_count_in_words_is_found_by_its_number(analyzer, written, count):
    assert count in words(analyzer, written)
    assert count in {*analyzer.question(written).kept, *chain(*analyzer.question(written).parts.values())}


@pytest.mark.parametrize("text", ["one of them", "Seven Seas", "often days", "the twenty-second day", "Level ten"])
def test_a_number_in_words_without_a_unit_stays_as_it_is(analyzer, text):
    assert not any(word.isdecimal() for word in words(analyzer, text))


@pytest.mark.parametrize("written", ["1000001", "100-0001", "〒１００－０００１", "〒100ー0001"])
def test_a_postal_code_is_one_word_however_it_is_written(analyzer, written):
    assert "1000001" in words(analyzer, f"{written} 東京都千代田区")
    assert analyzer.question(written).kept == ("1000001",)


def test_the_parts_of_a_telephone_number_are_found_too_and_it_is_marked_whole(analyzer):
    assert analyzer.question("03-1234-5678").parts == {"0312345678": ("03", "1234", "5678")}
    text = "電話: 03-1234-5678"
    spans = analyzer.matches(analyzer.question("0312345678"), text)
    assert [text[start:end] for start, end in spans] == ["03-1234-5678"]


@pytest.mark.parametrize(
    ("written", "percentage"),
    [
        ("自己負担は三割", "30%"),
        ("自己負担は3割です", "30%"),
        ("自己負担は３０％", "30%"),
        ("30 パーセント", "30%"),
        ("30 percent", "30%"),
        ("30.0 per cent", "30%"),
        ("二割五分増し", "25%"),
        ("2割5分", "25%"),
        ("百分の百二十五", "125%"),
        ("百分の二五", "25%"),
        ("100分の2.5", "2.5%"),
    ],
)
def test_a_percentage_is_one_word_however_it_is_written(analyzer, written, percentage):
    assert percentage in words(analyzer, written)
    assert percentage in analyzer.question(written).kept


def test_a_percentage_is_searched_by_its_number_too(analyzer):
    assert analyzer.question("30%").parts == {"30%": ("30",)}


@pytest.mark.parametrize("text", ["3割り当て", "割合3", "二三割", "30人", "10・5%", "1,250%", "百分の一千"])
def test_what_is_no_percentage_is_none(analyzer, text):
    assert not any(word.endswith("%") for word in words(analyzer, text))


@pytest.mark.parametrize("spread", ["附　則", "総　則", "氏　　名", "議　事　録"])
def test_a_heading_that_is_spread_with_spaces_is_its_word_too(analyzer, spread):
    found = words(analyzer, f"# {spread}\n第1条")
    assert set(words(analyzer, spread.replace("　", ""))) <= set(found)
    assert set(words(analyzer, spread[-1])) <= set(found)


def test_a_spread_word_is_marked_whole(analyzer):
    text = "# 附　則\nこの規程は四月一日から施行する。"
    assert [text[start:end] for start, end in analyzer.matches(analyzer.question("附則とは"), text)] == ["附　則"]


@pytest.mark.parametrize("text", ["東京 都", "出 張費", "附\n則"])
def test_words_with_spaces_or_lines_between_them_are_not_joined(analyzer, text):
    assert words(analyzer, text) == [word for part in text.split() for word in words(analyzer, part)]


def test_a_line_without_words_is_cut_short(analyzer):
    assert words(analyzer, "x" * 5000) == ["x" * LONGEST]


@pytest.mark.parametrize(
    "text", ["", " \n\t", "、。！？", "\" ' ( ) * ^ -", "😀👨\u200d👩\u200d👧", "\0", "\ud800", "\ufe0f"]
)
def test_what_has_no_words_has_no_terms(analyzer, text):
    assert analyzer.terms(text) == ([], [])
    assert analyzer.question(text).kept == ()


def test_nul_parts_words(analyzer):
    assert words(analyzer, "alpha\0beta\0日当") == ["alpha", "beta", "日当"]


def test_terms_hold_nothing_at_which_fts5_would_part_them():
    analyzer = Analyzer(Glossary(['say "hello" now', "it's\ttabbed", "C++", ".NET Framework"]))
    for text in ('say "hello" now', "it's tabbed", "C++", ".NET Framework", "rock 'n' roll"):
        for term in analyzer.terms(text).words:
            assert not set(term.text) & set(" \"'\0\t\n")


# Pairs


def test_pairs_are_of_runs_of_japanese(analyzer):
    assert pairs(analyzer, "属性Aの値") == ["属性", "の値"]


def test_a_run_of_one_character_is_a_term_by_itself(analyzer):
    assert pairs(analyzer, "A案とB案") == ["案と", "案"]
    assert pairs(analyzer, "表 1") == ["表"]


def test_a_middle_dot_parts_runs_and_a_long_vowel_does_not(analyzer):
    assert pairs(analyzer, "データ・ベース") == ["デー", "ータ", "ベー", "ース"]


# Offsets


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("㍿ﾊﾞｰﾄﾞの件", ["㍿", "㍿", "ﾊﾞｰﾄﾞ", "件"]),
        ("ﬁle №12", ["ﬁle", "№", "12"]),
        ("ｻｰﾊﾞｰ A", ["ｻｰﾊﾞｰ", "A"]),
        ("cafe\u0301 menu", ["cafe\u0301", "menu"]),
        ("葛\U000e0100城市", ["葛\U000e0100城", "市"]),
    ],
)
def test_offsets_are_true_where_folding_changes_lengths(analyzer, text, expected):
    assert written(analyzer, text) == expected


def test_folding_by_parts_gives_what_folding_the_whole_gives():
    """Compared with Unicode's definition, on random text with combining marks."""
    spans = [(0x20, 0x17F), (0x300, 0x340), (0x900, 0x980), (0x1100, 0x1200), (0x3040, 0x30FF), (0x3200, 0x33FF)]
    spans += [(0xAC00, 0xAC40), (0xFF00, 0xFFEF)]
    letters = [chr(code) for low, high in spans for code in range(low, high)]
    rng = random.Random(1)
    for _ in range(3000):
        text = "".join(rng.choices(letters, k=rng.randint(1, 12)))
        folded = fold(text)
        seen = "".join(each for each in text if each not in "\u00ad\u115f\u1160\uffa0")
        assert folded.text == unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold())
        assert len(folded.text) == len(folded.starts) == len(folded.ends)
        assert all(start < end <= len(text) for start, end in zip(folded.starts, folded.ends, strict=True))
        assert list(folded.starts) == sorted(folded.starts)


def test_a_text_longer_than_sudachi_takes_is_analysed_to_its_end(analyzer):
    text = "出張の日当は二千円です。" * 5000 + "最後は経費精算。"
    terms = analyzer.terms(text).words
    assert [term.text for term in terms[-3:]] == ["最後", "経費", "精算"]
    assert text[terms[-1].start : terms[-1].end] == "精算"


@pytest.mark.soak
def test_a_text_without_sentences_is_analysed_to_its_end(analyzer):
    text = "東京" * PIECE + "大阪"
    last = analyzer.terms(text).words[-1]
    assert (last.text, last.start, last.end) == ("大阪", 2 * PIECE, 2 * PIECE + 2)


# Threads


def test_threads_share_one_analyzer(analyzer):
    texts = [f"第{number}条の日当は{number}円、printers {number}" for number in range(40)]
    alone = [analyzer.terms(text) for text in texts]
    together: dict[int, list] = {}

    def analyse(thread: int) -> None:
        together[thread] = [Analyzer().terms(text) for text in texts]

    threads = [threading.Thread(target=analyse, args=(thread,)) for thread in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [together[thread] for thread in range(8)] == [alone] * 8


# Glossary


@pytest.fixture(scope="module")
def informed() -> Analyzer:
    return Analyzer(Glossary.of_lines('Xパタン\n属性Ａ\n\n  C++ \nvisual  studio\nsay "it"\n'))


def test_a_term_of_the_glossary_stays_whole_in_text_and_question(informed):
    assert "xパタン" in words(informed, "ＸパタンとYパタン")
    assert informed.question("Xパタンとは").kept == ("xパタン",)
    assert informed.question("属性Aとはどういった項目ですか").kept == ("属性a", "項目")
    assert informed.question("C++ in Visual Studio").kept == ("c++", "visual_studio")


def test_its_parts_are_found_by_themselves(informed):
    assert words(informed, "Xパタン") == ["xパタン", "x", "パターン"]


def test_a_term_is_not_found_within_a_word():
    analyzer = Analyzer(Glossary(["art", "X1"]))
    assert words(analyzer, "party X10 X1") == ["parti", "x10", "x1", "x1"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("expense report", "Expense reports"), ("badge", "badges"), ("badge", "the badge’s"), ("NDA", "NDAs"),
     ("expense report", "expense\nreport"), ("policy", "policies")],
)  # fmt: skip
def test_the_plural_or_genitive_of_a_term_is_the_term(one, other):
    analyzer = Analyzer(Glossary(["expense report", "badge", "NDA", "policy"]))
    assert set(analyzer.question(one).kept) <= set(words(analyzer, other))
    assert analyzer.question(other).kept == analyzer.question(one).kept


def test_a_term_is_not_found_across_words_of_japanese():
    analyzer = Analyzer(Glossary(["日当", "京都", "立替", "社員食堂"]))
    assert analyzer.question("一日当たりの上限額").kept == ("1", "日", "当たり", "上限", "額")
    assert "京都" not in words(analyzer, "東京都の最低賃金")
    assert analyzer.question("京都の日当").kept == ("京都", "日当")
    assert "立替" in words(analyzer, "立替える方法")
    assert "社員食堂" in words(analyzer, "本社員食堂")


def test_the_longest_term_counts():
    analyzer = Analyzer(Glossary(["経費", "経費精算システム", "精算"]))
    assert analyzer.question("経費精算システム").kept == ("経費精算システム",)


def test_without_a_glossary_what_it_would_keep_is_cut(analyzer):
    assert words(analyzer, "Xパタン") == ["x", "パターン"]


def test_the_order_of_a_glossary_does_not_matter_and_its_terms_do():
    one, same, other = Glossary(["日当", "C++"]), Glossary(["Ｃ++", "日当", ""]), Glossary(["日当"])
    assert Analyzer(one).id == Analyzer(same).id != Analyzer(other).id


# Questions


@pytest.mark.parametrize(
    "question",
    [
        "日当とは",
        "日当について教えてください",
        "日当とはどういったものですか",
        "日当の説明をしてください",
        "日当",
        "日当って何？",
    ],
)
def test_however_japanese_asks_the_subject_is_searched(analyzer, question):
    assert analyzer.question(question).kept == ("日当",)


@pytest.mark.parametrize(
    "question",
    [
        "What is per diem?",
        "Tell me about the per diem",
        "Please explain per diem",
        "Could you describe a per diem?",
        "per diem",
    ],
)
def test_however_english_asks_the_subject_is_searched(analyzer, question):
    assert analyzer.question(question).kept == ("per", "diem")


def test_a_word_of_asking_that_is_sought_is_searched(analyzer):
    assert analyzer.question("説明書の場所").kept == ("説明", "書", "場所")
    assert analyzer.question("教える").kept == ("教える",)
    assert analyzer.question("What is it?").kept == ("what", "is", "it")


def test_names_in_capitals_are_searched(analyzer):
    assert analyzer.question("Who is in IT?").kept == ("it",)
    assert analyzer.question("属性Aとは").kept == ("属性", "a")
    assert analyzer.question("WHAT IS A VPN").kept == ("vpn",)


@pytest.mark.parametrize(
    ("question", "sought"),
    [
        ("Aプランの料金は?", ("a", "プラン", "料金")),
        ("A プランの料金は?", ("a", "プラン", "料金")),
        ("it部門の連絡先", ("it", "部門", "連絡", "先")),
        ("if文の書き方", ("if", "文", "書き", "方")),
        ("10amの便", ("10", "am", "便")),
    ],
)
def test_a_word_of_english_that_touches_japanese_or_a_number_is_a_name(analyzer, question, sought):
    assert analyzer.question(question).kept == sought


def test_an_article_of_english_before_a_word_of_english_is_left_out(analyzer):
    assert analyzer.question("A plan of 日当").kept == ("plan", "日当")


@pytest.mark.parametrize("question", ["2,500円", "192.168.0.1", "the employee's car", "X’パタン"])
def test_signs_inside_a_word_are_no_words_of_their_own(analyzer, question):
    assert {word.dropped for word in analyzer.question(question).words} <= {None, DropReason.COMMON}


def test_an_analysis_says_what_became_of_each_word():
    question = "ｻｰﾊﾞはどこですか"
    found = Analyzer().question(question)
    assert [(word.written, word.term, word.dropped) for word in found.words] == [
        ("ｻｰﾊﾞ", "サーバー", None),
        ("は", "", DropReason.PARTICLE),
        ("どこ", "", DropReason.COMMON),
        ("です", "", DropReason.AUXILIARY),
        ("か", "", DropReason.PARTICLE),
    ]
    assert all(question[word.start : word.end] == word.written for word in found.words)


def test_an_analysis_says_why_words_are_dropped(informed):
    why = {word.written: word.dropped for word in informed.question("Please explain 属性A、教えて").words}
    assert why["explain"] == why["教え"] == DropReason.ASKING
    assert why["属性"] == DropReason.WITHIN
    assert why["、"] == DropReason.SIGN


def test_pairs_of_what_only_asks_are_not_searched(analyzer):
    assert analyzer.question("日当について教えてください").pairs == ("日当",)
    assert analyzer.question("雨が降る").pairs == ("雨が", "が降", "降る")


def test_a_question_of_a_thousand_characters_is_analysed(analyzer):
    question = "経費精算の締め日は毎月二十五日です。" * 60
    found = analyzer.question(question)
    assert found.words[-1].end == len(question)
    assert len(found.kept) < 15


@pytest.mark.timeout(60)  # seconds; it takes one or two
@pytest.mark.parametrize("rules", [500, *(pytest.param(each, marks=pytest.mark.soak) for each in (1500, 4000))])
def test_a_whole_document_pasted_as_a_question_is_analysed_in_time(analyzer, rules):
    question = " ".join(f"第{number}条 日当は{number}円です printer{number}" for number in range(rules))
    assert len(analyzer.question(question).kept) > 2 * rules


# Matches


def test_what_matched_is_marked_as_it_is_written(analyzer):
    text = "㍿ABCのｻｰﾊﾞｰは梅雨に強い"
    found = analyzer.matches(analyzer.question("サーバと株式会社"), text)
    assert [text[start:end] for start, end in found] == ["㍿", "ｻｰﾊﾞｰ"]


def test_a_kanji_number_is_marked_whole(analyzer):
    text = "常時五十人以上の労働者"
    found = analyzer.matches(analyzer.question("50人以上"), text)
    assert [text[start:end] for start, end in found] == ["五十人以上"]


def test_marks_that_touch_are_one(analyzer):
    text = "経費精算を行う"
    assert analyzer.matches(analyzer.question("経費精算"), text) == [(0, 4)]


def test_nothing_is_marked_where_only_particles_agree(analyzer):
    assert analyzer.matches(analyzer.question("梅雨とは"), "日当とは何か") == []


@pytest.mark.parametrize("prime", ["'", "’", "′", "＇"])
def test_a_name_with_a_prime_is_another_than_the_one_without(prime: str) -> None:
    analyzer = Analyzer()
    primed, plain = (analyzer.question(f"{name}パタンとは").kept for name in (f"X{prime}", "X"))
    assert (primed, plain) == (("x’", "パターン"), ("x", "パターン"))
    assert analyzer.question("'X'パタン").kept == plain
    assert analyzer.question("the dogs' tails").kept == ("dog", "tail")


def test_a_term_of_the_glossary_keeps_its_prime() -> None:
    analyzer = Analyzer(Glossary(["X'パタン", "Xパタン"]))
    assert analyzer.question("X′パタンとは").kept != analyzer.question("Xパタンとは").kept


@pytest.mark.parametrize(
    "question", ["出張について、日当は", "出張の日当とはどういうものですか", "出張の日当はどのような額か"]
)
def test_what_only_asks_is_left_out_wherever_it_stands(question: str) -> None:
    assert {"出張", "日当"} <= set(Analyzer().question(question).kept) <= {"出張", "日当", "額"}


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("What if I don't have a receipt?", ("receipt",)),
        ("I’ve lost my badge", ("lose", "badg")),
        ("Why can't I connect?", ("connect",)),
        ("I'm ill", ("ill",)),
        ("What is an ID?", ("id",)),
        ("I'd like to know about the warranty", ("warranti",)),
        ("日当のことを教えて", ("日当",)),
        ("会議室を予約するにはどうしたらいい?", ("会議", "室", "予約")),
        ("日当の額はどこで分かりますか", ("日当", "額")),
        ("良い評価の基準", ("良い", "評価", "基準")),
    ],
)
def test_short_forms_and_ways_to_ask_for_advice_are_not_searched(analyzer, question, kept):
    assert analyzer.question(question).kept == kept


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("領収書を送ってもよろしいでしょうか", ("領収", "書", "送り")),
        ("領収書を送らなくてもかまいませんか", ("領収", "書", "送り")),
        ("領収書を送らないといけませんか", ("領収", "書", "送り")),
        ("領収書を送らなくても大丈夫ですか", ("領収", "書", "送り")),
        ("領収書を送ってしまいました", ("領収", "書", "送り")),
        ("領収書を送ってくれますか", ("領収", "書", "送り")),
        ("領収書はどなたに送りますか", ("領収", "書", "送り")),
        ("領収書の送り先についてお伺いしたいと思います", ("領収", "書", "送り先")),
        ("領収書はございますか", ("領収", "書")),
        ("すみません、領収書をお願いいたします", ("領収", "書")),
        ("お疲れ様です。領収書はどうやって送りますか", ("領収", "書", "送り")),
        ("どのように送るのですか", ("送り",)),
        ("領収書の送り先を教えていただけると助かります", ("領収", "書", "送り先")),
        ("Hello, please tell me the fee, thanks", ("fee",)),
        ("有給について教えてください。入社3か月です。", ("有給", "入社", "3", "箇月")),
        ("有給について教えてください\n入社3か月です", ("有給", "入社", "3", "箇月")),
        ("I joined in May. Please tell me the fee.", ("join", "may", "fee")),
        ("Am I allowed to smoke?", ("allow", "smoke")),
        ("領収書の送り先をわかりやすく教えてください", ("領収", "書", "送り先")),
        ("領収書の送り先を簡単にまとめてください", ("領収", "書", "送り先")),
        ("ありがとうございます。では領収書は？", ("領収", "書")),
        ("領収書はどこですか。ありがとうございます。", ("領収", "書")),
        ("Please let me know the fee.", ("fee",)),
        ("What is the fee, please let me know", ("fee",)),
        ("What does PTO mean?", ("pto",)),
        ("Does anyone know the fee?", ("fee",)),
        ("Can someone tell me the fee?", ("fee",)),
        ("I cannot pay the fee", ("pay", "fee")),
        ("i cant pay the fee", ("pay", "fee")),
        ("Can he pay the fee?", ("pay", "fee")),
        ("領収書について教えてほしいのですが、保管は何年ですか", ("領収", "書", "保管", "年")),
        ("領収書の送り先が分からないんですけど、総務ですか", ("領収", "書", "送り先", "総務")),
        ("もし領収書がなかったら、申請は", ("領収", "書", "無い", "申請")),
        ("領収書が破れそうなとき、送り先は", ("領収", "書", "破れ", "時", "送り先")),
        ("ちなみに領収書はまだですか", ("領収", "書")),
        ("ご相談です。領収書の送り先は？", ("領収", "書", "送り先")),
        ("ハラスメントの相談ですが、送り先は", ("ハラスメント", "相談", "送り先")),
    ],
)
def test_polite_ways_to_ask_are_not_searched(analyzer, question, kept):
    assert analyzer.question(question).kept == kept


@pytest.mark.parametrize(
    "question",
    [
        "お世話になっております。領収書の保管",
        "いつも大変お世話になっております。\n> 領収書の保管は？？",
        "こんにちは。領収書の保管を教えてください。よろしくお願いいたします。",
        "おはようございます。質問です。領収書の保管は。。",
        "お忙しいところすみません。領収書の保管をご教示ください。",
        "お手数をおかけしますが、領収書の保管を教えてください。",
        "領収書の保管は？ご教示のほど何卒よろしくお願い申し上げます。",
        "領収書の保管は？以上、宜しくお願い致します！",
        "ちょっとお聞きしたいのですが、領収書の保管は？",
        "お疲れ様です。営業部の佐藤です。領収書の保管は？",
        "お世話になっております。株式会社山田商事の佐藤と申します。領収書の保管は？",
    ],
)
def test_the_greetings_of_a_mail_are_not_searched(analyzer, question):
    assert analyzer.question(question).kept == ("領収", "書", "保管")


@pytest.mark.parametrize(
    "question",
    [
        "Hi team,\n\nHow are receipts kept?\n\nThanks,\nJohn Smith",
        "Good morning, how are receipts kept? Best regards",
        "Hello there! Quick question: how are receipts kept? Thank you very much in advance!",
        "I was wondering how receipts are kept.",
    ],
)
def test_the_greetings_of_an_english_mail_are_not_searched(analyzer, question):
    assert analyzer.question(question).kept == ("receipt", "keep")


@pytest.mark.parametrize(
    ("question", "sought"),
    [
        ("家族の世話をするための休暇", "世話"),
        ("「お世話になっております」は社内のメールに要るか", "世話"),
        ("よろしくお願いします", "宜しく"),
        ("よろしくお願いいたしますの英訳", "宜しく"),
        ("初めましての挨拶", "初めまして"),
        ("the thank you gifts for customers", "thank"),
        ("the good morning campaign", "morn"),
    ],
)
def test_the_words_of_a_greeting_are_searched_where_they_are_the_subject(analyzer, question, sought):
    assert sought in analyzer.question(question).kept


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("高橋さんの内線", "高橋の内線"),
        ("高橋様の内線", "高橋の内線"),
        ("Mr. Brown's extension", "Brown's extension"),
        ("Ms Brown's extension", "Brown's extension"),
    ],
)
def test_a_name_is_searched_without_its_title(analyzer, one, other):
    assert analyzer.question(one).kept == analyzer.question(other).kept


@pytest.mark.parametrize(
    ("name", "kept"), [("サン電機", "サン"), ("MS Office", "ms"), ("申請の様式", "様式"), ("氏の変更", "氏")]
)
def test_a_name_that_looks_like_a_title_is_searched(analyzer, name, kept):
    assert kept in analyzer.question(name).kept


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("経費精算の締め切りは?", ["経費", "精算", "の", "締め切り", "は", "?"]),
        (
            "Who pays  the VPN's 2,500円?",
            ["Who", " ", "pays", "  ", "the", " ", "VPN's", " ", "2", ",", "500", "円", "?"],
        ),
        ("ｻｰﾊﾞｰ\n한국 𠮷野家", ["ｻｰﾊﾞｰ", "\n", "한국", " ", "𠮷", "野家"]),
        ("", []),
    ],
)
def test_words_in_order_are_the_whole_text(text, found):
    assert words_in_order(text) == found
    assert "".join(words_in_order(text)) == text


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_word_of_a_question_that_a_line_break_parts_is_one_word_as_in_what_was_copied_from_a_pdf(line_end):
    whole = Analyzer().question("有給休暇とマニュアルの場所")
    parted = Analyzer().question(f"有給休{line_end}暇とマニュ{line_end}アルの場所")
    assert (parted.kept, parted.pairs) == (whole.kept, whole.pairs)
    assert [word.written for word in parted.words] == [word.written for word in whole.words]


def test_words_on_lines_of_their_own_are_not_joined():
    assert Analyzer().question("日当\n宿泊費\n東京").pairs == ("日当", "宿泊", "泊費", "東京")


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\n\u3000\u3000", "\n> "])
def test_a_word_of_a_text_that_a_hard_line_end_parts_is_found(analyzer, line_end):
    """As in mails and minutes, perhaps quoted or below a mark."""
    text = f"申請書は総務部まで提出してください。有給休{line_end}暇の残りもお知らせください。"
    (found,) = (term for term in analyzer.terms(text).words if line_end in text[term.start : term.end])
    assert found.text == "休暇"
    assert analyzer.matches(analyzer.question("休暇"), text) == [(found.start, found.end)]


def test_entries_of_a_list_are_no_parts_of_one_word(analyzer):
    assert words(analyzer, "出席者：\n田中\n村上\n大阪\n府中") == ["出席", "者", "田中", "村上", "大阪", "府中"]
