import stat
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from index_store.base import errors
from index_store.parsing.loaders import archive
from index_store.parsing.loaders.archive import Unpacked, unpack
from tests.index_store.parsing.loaders.archive_file import zipped

TEXT = b"The allowance is paid per day."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "unpacked"
    folder.mkdir()
    return folder


def unpacked(content: bytes, folder: Path) -> Unpacked:
    path = folder.parent / "docs.zip"
    path.write_bytes(content)
    return unpack(path, "docs.zip", folder)


def names(result: Unpacked) -> list[str]:
    return [member.name for member in result.members]


def refusals(result: Unpacked) -> dict[str, type[errors.DocumentError]]:
    return {name: type(error) for name, error in result.refused}


def test_each_member_is_a_file_with_its_content_and_its_name_within_the_archive(folder: Path) -> None:
    result = unpacked(zipped({"a.txt": TEXT, "deep/er/b.md": b"# B"}), folder)
    assert [(member.name, member.path.read_bytes()) for member in result.members] == [
        ("a.txt", TEXT),
        ("deep/er/b.md", b"# B"),
    ]
    assert all(folder in member.path.parents for member in result.members)


def test_what_systems_put_there_for_themselves_is_left_out_in_silence(folder: Path) -> None:
    noise = ["__MACOSX/._a.txt", ".DS_Store", "Thumbs.db", ".git/config.txt", "~$report.txt", "docs/.hidden.md"]
    result = unpacked(zipped(dict.fromkeys([*noise, "a.txt"], TEXT)), folder)
    assert (names(result), result.refused) == (["a.txt"], [])


def test_an_unknown_kind_is_refused_by_name_and_the_others_are_loaded(folder: Path) -> None:
    result = unpacked(zipped({"a.txt": TEXT, "film.mov": b"x"}), folder)
    assert (names(result), refusals(result)) == (["a.txt"], {"film.mov": errors.UnknownKind})


@pytest.mark.parametrize(
    "name", ["../../evil.txt", "/etc/evil.txt", "C:\\evil.txt", "docs\\..\\..\\evil.txt", "a\x07b.txt", "C:evil.txt"]
)
def test_a_name_that_leads_elsewhere_is_refused_and_nothing_is_written_for_it(name: str, folder: Path) -> None:
    before = set(folder.parent.rglob("*"))
    result = unpacked(zipped({name: TEXT, "good.txt": TEXT}), folder)
    assert names(result) == ["good.txt"]
    assert list(refusals(result).values()) == [errors.UnsafeMember]
    written = [path for path in set(folder.parent.rglob("*")) - before if path.is_file()]
    assert sorted(path.name for path in written) == sorted(["docs.zip", result.members[0].path.name])


def test_a_link_is_refused(folder: Path) -> None:
    link = zipfile.ZipInfo("passwords.txt")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    result = unpacked(zipped([(link, b"/etc/passwd"), ("a.txt", TEXT)]), folder)
    assert refusals(result) == {"passwords.txt": errors.UnsafeMember}


def test_the_name_of_a_device_or_a_very_long_one_does_no_harm(folder: Path) -> None:
    files = {"NUL.txt": TEXT, "x" * 5_000 + ".txt": TEXT}
    assert [member.path.read_bytes() for member in unpacked(zipped(files), folder).members] == [TEXT, TEXT]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_two_members_of_the_same_name_the_last_counts(folder: Path) -> None:
    result = unpacked(zipped([("a.txt", b"old"), ("a.txt", b"new")]), folder)
    assert [member.path.read_bytes() for member in result.members] == [b"new"]


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("表紙/髙橋①.txt", "cp932"),
        ("Q&A集.txt", "cp932"),
        ("AC用.txt", "cp932"),
        ("a～b.txt", "cp932"),
        ("Q＆A.txt", "cp932"),
        ("１.txt", "cp932"),
        ("表紙/経費の申請.txt", "utf-8"),
        ("Übung/größe.txt", "cp437"),
        ("Schröder.txt", "cp437"),
        ("für Grün.txt", "cp437"),
        ("école.txt", "cp437"),
        ("hôtel près de Paris.txt", "cp437"),
    ],
)
def test_names_without_the_utf8_mark_are_read_in_the_encoding_they_are_in(
    name: str, encoding: str, folder: Path
) -> None:
    # zipfile marks non-ASCII names as UTF-8. So an ASCII name of the same length is written and then replaced.
    raw = name.encode(encoding)
    standing = b"n" * (len(raw) - 4) + b".txt"
    content = zipped({standing.decode(): TEXT}).replace(standing, raw)
    assert names(unpacked(content, folder)) == [name]


def test_archives_within_archives_are_unpacked_to_a_depth(folder: Path) -> None:
    content = zipped({"deep.txt": TEXT})
    for level in range(3):
        content = zipped({f"{level}.zip": content, f"{level}.txt": TEXT})
    result = unpacked(content, folder)
    assert names(result) == ["2.zip/1.zip/0.txt", "2.zip/1.txt", "2.txt"]
    assert refusals(result) == {"2.zip/1.zip/0.zip": errors.NestedTooDeeply}


def test_a_damaged_member_costs_itself_alone(folder: Path) -> None:
    content = zipped({"a.txt": TEXT * 9, "b.txt": b"another text, " * 9})
    at = content.index(b"a.txt") + len("a.txt") + 5
    broken = content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :]
    result = unpacked(broken, folder)
    assert (names(result), refusals(result)) == (["b.txt"], {"a.txt": errors.Unreadable})


def test_members_under_a_password_are_refused_and_a_whole_archive_of_them_in_one_sentence(folder: Path) -> None:
    content = bytearray(zipped({"a.txt": TEXT, "b.txt": TEXT}))
    entry = content.index(b"PK\x01\x02")
    content[entry + 8] |= 1  # the flag of the first member in the directory
    assert refusals(unpacked(bytes(content), folder)) == {"a.txt": errors.PasswordProtected}
    content[content.index(b"PK\x01\x02", entry + 4) + 8] |= 1
    with pytest.raises(errors.PasswordProtected, match=r"docs\.zip"):
        unpacked(bytes(content), folder)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (zipped({"a.txt": TEXT * 50})[:-40], errors.Unreadable),
        (b"PK\x03\x04 and nothing more", errors.Unreadable),
        (b"%PDF-1.4\n1 0 obj", errors.WrongContent),
        (zipped({"[Content_Types].xml": b"<x/>", "word/document.xml": b"<x/>"}), errors.WrongContent),
        (zipped({}), errors.NothingToLoad),
        (zipped({"film.mov": b"x", "photo.png": b"x"}), errors.NothingToLoad),
    ],
)
def test_what_is_no_archive_of_documents_is_refused_and_leaves_nothing(
    content: bytes, error: type[errors.PlainError], folder: Path
) -> None:
    with pytest.raises(error, match=r"docs\.zip"):
        unpacked(content, folder)
    assert list(folder.iterdir()) == []


def test_a_member_that_is_packed_too_tightly_is_refused_early(folder: Path) -> None:
    result = unpacked(zipped({"bomb.txt": bytes(60_000_000), "a.txt": TEXT}), folder)
    assert (names(result), refusals(result)) == (["a.txt"], {"bomb.txt": errors.PackedTooTightly})
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) == len(TEXT)


def test_sizes_count_as_they_come_out_whatever_the_archive_says(folder: Path) -> None:
    content = zipped({"a.txt": bytes(1_000_000)})
    entry = content.index(b"PK\x01\x02")
    lying = content[: entry + 24] + struct.pack("<I", 10) + content[entry + 28 :]
    assert refusals(unpacked(lying, folder)) == {"a.txt": errors.Unreadable}


def test_the_sum_of_all_and_their_number_are_limited(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "TOTAL_MB", 1)
    files = {f"{number}.txt": bytes(range(256)) * 1600 for number in range(4)}
    with pytest.raises(errors.ArchiveTooLarge, match="1 MB"):
        unpacked(zipped(files), folder)
    monkeypatch.setattr(archive, "MEMBERS", 3)
    with pytest.raises(errors.TooManyMembers, match="3 files"):
        unpacked(zipped({f"{number}.txt": TEXT for number in range(4)}), folder)
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="the size of files is limited on Linux alone")
def test_a_member_over_the_limit_for_files_is_refused(folder: Path) -> None:
    path = folder.parent / "docs.zip"
    path.write_bytes(zipped({"big.txt": bytes(range(256)) * 16_384, "a.txt": TEXT}))
    code = (
        "import resource, sys; from pathlib import Path; from index_store.parsing.loaders.archive import unpack\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, 2 << 20))\n"
        "result = unpack(Path(sys.argv[1]), 'docs.zip', Path(sys.argv[2]))\n"
        "print(*(error.sentence('en') for _, error in result.refused))"
    )
    done = subprocess.run([sys.executable, "-c", code, path, folder], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("The file big.txt is larger than 2 MB.")
