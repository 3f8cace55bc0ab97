import pytest

from index_store.parsing.loaders.office.excel.number_format import BUILT_IN, shown


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (1200, "#,##0", "1,200"),
        (1234567.5, "#,##0.00", "1,234,567.50"),
        (0.125, "0.0%", "12.5%"),
        (0.5, "0%", "50%"),
        (2.5, "0", "3"),
        (0, "#,##0", "0"),
        (0.5, "#.##", ".5"),
        (7, "0000", "0007"),
        (1600022, "000-0000", "160-0022"),
        (9012345678, "000-0000-0000", "090-1234-5678"),
        (1234567, '#,##0,"千円"', "1,235千円"),
        (-1200, "#,##0", "-1,200"),
        (-1200, "#,##0;[Red](#,##0)", "(1,200)"),
        (-0.2, "0", "0"),
        (0, '0;-0;"なし"', "なし"),
        (-5, "0.0;@", "-5.0"),
        (5, ";;;", ""),
        (2500, '"¥"#,##0', "¥2,500"),
        (2500, '"\\"#,##0', "¥2,500"),
        (2500, "\\\\#,##0", "¥2,500"),
        (2500, "[$\\-411]#,##0", "¥2,500"),
        (2500, "[$€-407]#,##0", "€2,500"),
        (3, '0"名"', "3名"),
        (12345, "0.00E+00", "1.23E+04"),
        (0.25, "# ?/?", "0.25"),
        (0.1 + 0.2, "General", "0.3"),
        (4901234567894, "General", "4901234567894"),
        (1 / 3, "General", "0.3333333333"),
        (12345678901.5, "General", "12345678902"),
        (9999999999.6, "General", "10000000000"),
        (1200, "G/標準", "1200"),
        (1200, 'G/標準"円"', "1200円"),
        (0.5, "G/通用格式", "0.5"),
        (12, "@", "12"),
        (1234567, BUILT_IN.get(6, ""), "1,234,567"),
        (-1234.5, BUILT_IN.get(44, ""), "-1,234.50"),
        (0, BUILT_IN.get(41, ""), "-"),
    ],
)
def test_numbers_are_shown_as_the_sheet_shows_them(value: float, code: str, text: str) -> None:
    assert shown(value, code) == text


SIZES = '[>=1000000]0.0,,"M";[>=1000]0.0,"K";0'
TELEPHONE = r"[<=99999999]####-####;\(00\)\ ####-####"
POSTCODE = "[<=999]000;[<=9999]000-00;000-0000"
DONE = '[=1]"済";[=0]"未";General'


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (0.05, '[<0]"△"0.0%;0.0%', "5.0%"),
        (-0.05, '[<0]"△"0.0%;0.0%', "△5.0%"),
        (-0.05, '[>=0]0.0%;"△"0.0%', "△5.0%"),
        (2_500_000, SIZES, "2.5M"),
        (2500, SIZES, "2.5K"),
        (25, SIZES, "25"),
        (-2500, SIZES, "-2500"),
        (12345678, TELEPHONE, "1234-5678"),
        (312345678, TELEPHONE, "(03) 1234-5678"),
        (9012345678, TELEPHONE, "(90) 1234-5678"),
        (1, POSTCODE, "001"),
        (1001, POSTCODE, "010-01"),
        (1000001, POSTCODE, "100-0001"),
        (1, DONE, "済"),
        (0, DONE, "未"),
        (2, DONE, "2"),
        (5, '[<>0]"有";"無"', "有"),
        (0, '[<>0]"有";"無"', "無"),
        (5, '[>100]0.0;-0.0;"少"', "少"),
        (-5, "[Red][<-1.5E+1]0.0;0.00", "-5.00"),
        (5, "[<=3]0.00", "5"),
    ],
)
def test_a_format_with_conditions_shows_a_number_as_the_condition_says_that_it_meets(
    value: float, code: str, text: str
) -> None:
    assert shown(value, code) == text


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (46347, BUILT_IN[14], "2026-11-21"),
        (46347, "yyyy/m/d", "2026-11-21"),
        (46347, "m/d/yy", "2026-11-21"),
        (46347.75, "yyyy/mm/dd hh:mm", "2026-11-21 18:00"),
        (46347.524259, "yyyy/mm/dd hh:mm:ss", "2026-11-21 12:34:56"),
        (46347.524262, "yyyy/mm/dd hh:mm:ss.000", "2026-11-21 12:34:56.237"),
        (46347.9999999, "yyyy/mm/dd hh:mm:ss", "2026-11-22 00:00:00"),
        (46347.00003, "yyyy/m/d h:m:s", "2026-11-21 00:00:03"),
        (46347, 'yyyy"年"m"月"d"日"', "2026年11月21日"),
        (46347, "yyyy年m月d日(aaa)", "2026年11月21日(土)"),
        (46347, '[$-411]ggge"年"m"月"d"日"', "令和8年11月21日"),
        (43585, "ge.m.d", "H31.4.30"),
        (43586, '[$-ja-JP-x-gannen]ggge"年"m"月"d"日";@', "令和元年5月1日"),
        (43831, '[$-ja-JP-x-gannen]ggge"年"m"月"d"日";@', "令和2年1月1日"),
        (43586, '[$-411]ggge"年"m"月"d"日"', "令和1年5月1日"),
        (46347, "d-mmm-yy", "21-Nov-26"),
        (46347, "dddd, mmmm d", "Saturday, November 21"),
        (46347, "m/d", "11/21"),
        (46347, "[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy", "2026-11-21"),
        (46347, "[$-x-sysdate]dddd, mmmm dd, yyyy", "2026-11-21"),
        (46347.75, "[$-F400]h:mm:ss\\ AM/PM", "18:00:00"),
        (46347.75, '[$-411]AM/PM h"時"mm"分";@', "午後 6時00分"),
        (46347.25, "[$-ja-JP]AM/PM h:mm", "午前 6:00"),
        (46347, "[$-411]m/d(ddd)", "11/21(土)"),
        (46347, "[$-ja-JP]m/d dddd", "11/21 土曜日"),
        (46347, "gee.mm.dd", "R08.11.21"),
        (0.75, "h:mm", "18:00"),
        (0.75, "h:mm AM/PM", "6:00 PM"),
        (1.5, "[h]:mm", "36:00"),
        (0.0007, "mm:ss", "01:00"),
        (59, "yyyy-mm-dd", "1900-02-28"),
        (99999999, "yyyy-mm-dd", "99999999"),
        (-1, "yyyy-mm-dd", "-1"),
    ],
)
def test_dates_and_times_are_shown_as_the_sheet_shows_them(value: float, code: str, text: str) -> None:
    assert shown(value, code) == text


def test_days_are_counted_from_1904_where_the_file_says_so() -> None:
    assert shown(44885, "yyyy-mm-dd", is_1904=True) == "2026-11-21"


@pytest.mark.parametrize(
    "code",
    [
        "",
        '"',
        "[",
        "\\",
        "0.0.0.0",
        ";" * 300,
        "#" * 300,
        "[$",
        "y",
        "E+00",
        "_",
        "0/0/0",
        "[<]0",
        "[=1",
        "[>1e999]0;[<-1e999]0",
        "[>" + "9" * 250 + "]0",
        "0%%%%%%%",
        "0." + "0" * 250,
    ],
)
@pytest.mark.parametrize(
    "value",
    [
        0,
        -1.5,
        1e300,
        float("inf"),
        *(pytest.param(each, marks=pytest.mark.soak) for each in (1.5, 1e-300, 1e14 + 0.6, 46347)),
    ],
)
def test_a_format_that_makes_no_sense_still_gives_a_text(code: str, value: float) -> None:
    assert isinstance(shown(value, code), str)
