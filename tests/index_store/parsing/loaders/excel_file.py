"""Makes small Excel workbooks for tests."""

from tests.index_store.parsing.loaders.office_file import EXCEL, OfficeFile, core_properties

Value = str | int | float | None


def cells(row: int, values: list[Value], first: int = 0, style: int = 0) -> str:
    xml = ""
    for column, value in enumerate(values, first):
        place = f'r="{chr(ord("A") + column)}{row}"'
        if isinstance(value, str):
            xml += f'<c {place} t="inlineStr"><is><t>{value}</t></is></c>'
        elif value is not None:
            xml += f'<c {place} s="{style}"><v>{value}</v></c>'
    return xml


def rows(*values: list[Value], first: int = 1) -> str:
    return "".join(f'<row r="{at}">{cells(at, row)}</row>' for at, row in enumerate(values, first))


def workbook(*sheets: tuple[str, str], strings: str = "", formats: tuple[str, ...] = (), title: str = "") -> OfficeFile:
    """`sheets`: attributes such as `name`, and the XML of the sheet. XML without sheetData is put into it, as rows."""
    file = OfficeFile("xl/workbook.xml")
    listed = "".join(f'<sheet {given} r:id="rId{at}"/>' for at, (given, _) in enumerate(sheets, 1))
    file.parts["xl/workbook.xml"] = f"<workbook {EXCEL}><sheets>{listed}</sheets></workbook>"
    for at, (_, xml) in enumerate(sheets, 1):
        name = f"worksheets/sheet{at}.xml"
        data = xml if "<sheetData" in xml else f"<sheetData>{xml}</sheetData>"
        file.parts[f"xl/{name}"] = f"<worksheet {EXCEL}>{data}</worksheet>"
        file.links.append(("xl/workbook.xml", f"rId{at}", "worksheet", name))
    if strings:
        file.parts["xl/sharedStrings.xml"] = f"<sst {EXCEL}>{strings}</sst>"
        file.links.append(("xl/workbook.xml", "rIdS", "sharedStrings", "/xl/sharedStrings.xml"))
    own = "".join(f'<numFmt numFmtId="{at}" formatCode="{code}"/>' for at, code in enumerate(formats, 164))
    used = "".join(f'<xf numFmtId="{at}"/>' for at in (0, *range(164, 164 + len(formats))))
    file.parts["xl/styles.xml"] = f"<styleSheet {EXCEL}><numFmts>{own}</numFmts><cellXfs>{used}</cellXfs></styleSheet>"
    file.links.append(("xl/workbook.xml", "rIdF", "styles", "styles.xml"))
    if title:
        file.parts["docProps/core.xml"] = core_properties(title)
    return file
