"""Makes small PowerPoint presentations for tests."""

from tests.index_store.parsing.loaders.office_file import POWERPOINT, OfficeFile, core_properties

BULLET = '<a:buChar char="•"/>'


def paragraph(text: str, properties: str = "", level: int = 0) -> str:
    text = "<a:br/>".join(f"<a:r><a:t>{part}</a:t></a:r>" for part in text.split("\n"))
    return f'<a:p><a:pPr lvl="{level}">{properties}</a:pPr>{text}</a:p>'


def at(x: int, y: int, width: int = 100, height: int = 20) -> str:
    return f'<a:xfrm><a:off x="{x}" y="{y}"/><a:ext cx="{width}" cy="{height}"/></a:xfrm>'


def shape(*paragraphs: str, place: str = "", holder: str = "", hidden: bool = False) -> str:
    holder = f"<p:ph {holder}/>" if holder else ""
    body = "".join(text if text.startswith("<") else paragraph(text) for text in paragraphs)
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="2" name="x" hidden="{int(hidden)}"/><p:nvPr>{holder}</p:nvPr></p:nvSpPr>'
        f"<p:spPr>{place}</p:spPr><p:txBody>{body}</p:txBody></p:sp>"
    )


def title(text: str) -> str:
    return shape(text, place=at(0, 0), holder='type="title"')


def frame(content: str) -> str:
    return (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="3" name="y"/></p:nvGraphicFramePr>'
        f"<a:graphic><a:graphicData>{content}</a:graphicData></a:graphic></p:graphicFrame>"
    )


def tree(shapes: str) -> str:
    return f"<p:cSld><p:spTree><p:nvGrpSpPr/><p:grpSpPr/>{shapes}</p:spTree></p:cSld>"


def deck(*slides: str, attributes: str = "", core_title: str = "") -> OfficeFile:
    listed = "".join(f'<p:sldId id="{255 + place}" r:id="rId{place}"/>' for place in range(1, len(slides) + 1))
    file = OfficeFile("ppt/presentation.xml")
    file.parts["ppt/presentation.xml"] = (
        f"<p:presentation {POWERPOINT}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>"
    )
    for place, shapes in enumerate(slides, 1):
        file.parts[f"ppt/slides/slide{place}.xml"] = f"<p:sld {POWERPOINT} {attributes}>{tree(shapes)}</p:sld>"
        file.links.append(("ppt/presentation.xml", f"rId{place}", "slide", f"slides/slide{place}.xml"))
    if core_title:
        file.parts["docProps/core.xml"] = core_properties(core_title)
    return file
