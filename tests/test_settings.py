"""`.env.example` names all settings, explains each in two languages and gives their defaults. Values that are none."""

import os
import re
import sys
from pathlib import Path
from typing import Literal, get_origin

import pytest

from index_store.base.errors import EnvFileUnusable, InvalidSetting
from index_store.base.settings import settings as index_store
from index_store.vectors.embedded.model import EmbeddedEmbeddings
from index_store.vectors.registry import make_embeddings
from pages.server import settings as pages
from rag import settings as rag

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / ".env.example"
LINES = EXAMPLE.read_text(encoding="utf-8").splitlines()
EXAMPLES = dict(match.groups() for line in LINES if (match := re.fullmatch(r"#([A-Z_]+)=(.*)", line)))


def test_the_example_names_exactly_the_settings():
    fields = index_store.Settings.model_fields | rag.Settings.model_fields | pages.ServerSettings.model_fields
    assert EXAMPLES.keys() == {name.upper() for name in fields}


def test_each_setting_is_read():
    files = [file for each in ("app", "index_store/**/*", "rag/**/*", "pages/**/*") for file in ROOT.glob(f"{each}.py")]
    code = "\n".join(file.read_text(encoding="utf-8") for file in files)
    read = set(re.findall(r"(?:settings(?:\(\))?|self)\.(?=(\w+))", code))
    assert {name.lower() for name in EXAMPLES} - read == set()


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_setting_is_explained_in_english_and_then_in_japanese(name):
    place = next(i for i, line in enumerate(LINES) if line.startswith(f"#{name}="))
    english, japanese = LINES[place - 2 : place]
    assert re.fullmatch(r"# [ -~]+", english)
    assert re.match(r"# .*[ぁ-んァ-ヶ一-龠]", japanese)


def test_the_example_read_as_env_file_gives_the_defaults(tmp_path):
    env_file = tmp_path / "uncommented"
    env_file.write_text("\n".join(f"{name}={value}" for name, value in EXAMPLES.items()))
    assert rag.Settings(_env_file=env_file).model_dump(exclude={"data_dir"}) == rag.Settings(_env_file=None).model_dump(
        exclude={"data_dir"}
    )
    assert pages.ServerSettings(_env_file=env_file) == pages.ServerSettings(_env_file=None)
    assert EXAMPLES["DATA_DIR"] == str(rag.Settings.model_fields["data_dir"].default)


def test_a_path_in_the_env_file_may_begin_with_the_home_folder(data_dir, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("DATA_DIR")
    Path(".env").write_text("DATA_DIR=~/rag\nEMBEDDED_MODEL=~/model.gguf\n")
    settings = rag.Settings()
    assert (settings.data_dir, settings.embedded_model) == (tmp_path / "home/rag", tmp_path / "home/model.gguf")
    assert rag.Settings(data_dir=Path("~nobody-has-this-name/x")).data_dir == Path("~nobody-has-this-name/x")


def test_a_path_is_read_without_the_line_end_behind_it_and_a_blank_one_is_not_the_present_folder(tmp_path):
    settings = rag.Settings(_env_file=None, data_dir=f" {tmp_path}\r\n", embedded_model="model.gguf\r")
    assert (settings.data_dir, settings.embedded_model) == (tmp_path, Path("model.gguf"))
    with pytest.raises(InvalidSetting, match=r"DATA_DIR is not usable: it must be a folder\."):
        rag.Settings(_env_file=None, data_dir=" ")


@pytest.mark.skipif(sys.platform != "linux", reason="a file that nobody can read is one of /proc")
def test_an_env_file_that_cannot_be_read_is_told(data_dir):
    Path(".env").symlink_to("/proc/self/mem")
    with pytest.raises(EnvFileUnusable, match=r"\.env can't be used: this account may not read it\. Correct"):
        rag.Settings()


def test_an_env_file_in_another_encoding_is_told(data_dir):
    Path(".env").write_bytes("ADMINS=山田@example.com".encode("shift_jis"))
    with pytest.raises(EnvFileUnusable, match=r"\.env can't be used: it is not in UTF-8\. Correct"):
        rag.Settings()


def test_a_folder_in_place_of_the_env_file_is_told_and_nothing_starts_without_its_settings(data_dir):
    Path(".env").mkdir()
    for settings in (rag.Settings, pages.ServerSettings):
        with pytest.raises(EnvFileUnusable, match=r"\.env can't be used: it is a folder, not a file\. Correct"):
            settings()


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ('AUTH="oidc\nADMINS=anna\n', 1),
        ("# ours\n\nADMINS=anna\nAUTH oidc\n", 4),
        ("\n\nAUTH: oidc", 3),
        ("ADMINS=anna\nAUTH:oidc\n", 2),
        ("AUTH\n", 1),
        ("AUTH＝oidc\n", 1),
        ("ＡＵＴＨ=oidc\n", 1),
    ],
)
def test_a_line_of_the_env_file_that_is_no_setting_is_told_and_nothing_starts_without_it(data_dir, written, line):
    Path(".env").write_text(written)
    for settings in (rag.Settings, pages.ServerSettings):
        with pytest.raises(EnvFileUnusable, match=rf"\.env can't be used: line {line} is not of the form") as caught:
            settings()
        assert f"ファイル .env を使えません({line} 行目が" in caught.value.sentence("ja")
        assert "oidc" not in str(caught.value)


@pytest.mark.parametrize("value", ["“anna@example.com”", " ‘anna@example.com’ # ours", "＂anna@example.com＂"])
def test_quotation_marks_from_a_document_are_told_and_not_made_a_part_of_the_value(data_dir, value):
    Path(".env").write_text(f"# ours\nADMINS={value}\n")
    with pytest.raises(EnvFileUnusable, match=r"\.env can't be used: the value in line 2 begins with") as caught:
        rag.Settings()
    assert "ファイル .env を使えません(2 行目の値が全角の引用符" in caught.value.sentence("ja")
    assert "anna" not in str(caught.value)


def test_all_other_forms_of_a_line_of_the_env_file_are_settings(data_dir):
    written = '\ufeffexport ADMINS=anna\n# ＝\n\nANSWER_LANGUAGE=\nCRAWL_ALLOWED = "a\nb"\nOF_ANOTHER=＝\nQUOTED="“a”"'
    Path(".env").write_text(written)
    settings = rag.Settings()
    assert (settings.admins, settings.crawl_allowed) == ("anna", "a\nb")


@pytest.mark.parametrize(
    "name", ["openai_base_url", "aws_endpoint_url", "tavily_base_url", "chat_model", "embedding_model"]
)
def test_a_comment_that_docker_or_systemd_took_for_a_part_of_a_value_is_refused(monkeypatch, name):
    value = "http://localhost:11434/v1" if name.endswith("_url") else "embedded"
    monkeypatch.setenv(name.upper(), f"{value}   # or another")
    with pytest.raises(InvalidSetting, match=rf"{name.upper()} is not usable"):
        rag.Settings(_env_file=None)
    monkeypatch.setenv(name.upper(), f" {value}\r\n")
    assert getattr(rag.Settings(_env_file=None), name) == value


@pytest.mark.parametrize("quoted", ['"{}"', "'{}'", ' "{}"\n'])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("allowed_hosts", "rag.example.com,192.168.0.12"),
        ("chat_model", "embedded"),  # the service would be sent the questions
        ("data_dir", "/srv/rag"),
        ("admins", "anna@example.com"),
        ("admin_groups", "総務, Human Resources"),
        ("crawl_allowed", "wiki.example.internal"),
    ],
)
def test_quotation_marks_that_docker_took_for_a_part_of_a_value_are_refused(monkeypatch, name, value, quoted):
    settings = pages.ServerSettings if name in pages.ServerSettings.model_fields else rag.Settings
    monkeypatch.setenv(name.upper(), quoted.format(value))
    with pytest.raises(
        InvalidSetting, match=f"{name.upper()} is not usable: it must be without quotation marks"
    ) as told:
        settings(_env_file=None)
    assert f"設定 {name.upper()} の値が使えません。引用符で囲まない値を、" in told.value.sentence("ja")
    monkeypatch.setenv(name.upper(), value)
    assert settings(_env_file=None)


def test_a_secret_may_be_in_quotation_marks_because_they_may_be_meant():
    secret = f'"{"s" * pages.SECRET_LENGTH}"'
    assert pages.ServerSettings(_env_file=None, cookie_secret=secret).cookie_secret.get_secret_value() == secret


@pytest.mark.parametrize("name", ["DATA_DIR", "ADMIN_GROUPS", "OPENAI_API_KEY"])
def test_a_value_that_is_not_in_utf_8_is_refused_and_not_met_by_each_page(monkeypatch, name):
    monkeypatch.setenv(name, os.fsdecode("規程".encode("cp932")))
    with pytest.raises(InvalidSetting, match=rf"{name} is not usable: it must be in UTF-8\.") as told:
        rag.Settings(_env_file=None)
    assert "UTF-8 の文字列を、" in told.value.sentence("ja")


@pytest.mark.parametrize("content", [None, "", "not a certificate", "-----BEGIN PRIVATE KEY-----"])
def test_a_file_of_certificates_that_is_none_is_told_before_anything_is_made_with_it(monkeypatch, tmp_path, content):
    file = tmp_path / "all.pem"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    for settings in (rag.Settings, pages.ServerSettings):
        with pytest.raises(
            InvalidSetting, match=r"SSL_CERT_FILE is not usable: .* \(PEM\) that this account"
        ) as caught:
            settings(_env_file=None)
        assert "証明書のファイル" in caught.value.sentence("ja")
    monkeypatch.setenv("SSL_CERT_FILE", "")
    assert rag.Settings(_env_file=None)


KEYS = ["openai_api_key", "tavily_api_key", "aws_access_key_id", "aws_secret_access_key", "aws_session_token"]


@pytest.mark.parametrize("between", ["、", "，", "; ", " ", "\n"])
def test_admins_that_are_not_separated_by_commas_are_refused_rather_than_no_admins(between):
    with pytest.raises(InvalidSetting, match=r"ADMINS .* separated by commas"):
        rag.Settings(_env_file=None, admins=f"anna@example.com{between}bob＠example.com")
    assert rag.Settings(_env_file=None, admins="anna@example.com, 山田 太郎,bob@example.com,").admins


def test_an_admin_with_a_comment_behind_is_refused_rather_than_no_admin():
    with pytest.raises(InvalidSetting, match="ADMINS is not usable"):
        rag.Settings(_env_file=None, admins="anna@example.com   # and Bob, later")
    assert rag.Settings(_env_file=None, admins="auth0|anna#1").admins


@pytest.mark.parametrize("name", ["admin_groups", "editor_groups"])
@pytest.mark.parametrize("between", ["、", "，", ";", "；"])
def test_groups_that_are_not_separated_by_commas_are_refused_rather_than_one_group_that_there_is_not(name, between):
    with pytest.raises(InvalidSetting, match=rf"{name.upper()} .* separated by commas"):
        rag.Settings(_env_file=None, **{name: f"総務{between}人事"})
    assert rag.Settings(_env_file=None, **{name: "総務, Human Resources,"})


@pytest.mark.parametrize("between", ["、", "，", ";", "；"])
def test_models_that_are_not_separated_by_commas_are_refused_rather_than_one_model_that_there_is_not(between):
    with pytest.raises(InvalidSetting, match=r"COMPARE_MODELS .* separated by commas"):
        rag.Settings(_env_file=None, compare_models=f"gpt-4o{between}gpt-4.1")
    assert rag.Settings(_env_file=None, openai_api_key="sk-test", compare_models="gpt-4o, qwen3:8b,").other_models == (
        "gpt-4o", "qwen3:8b"
    )  # fmt: skip


@pytest.mark.parametrize("written", ["Embedded", "EMBEDDED", " embedded "])
def test_whoever_wants_the_embedded_models_sends_nothing_to_a_service_however_the_word_is_written(written):
    settings = rag.Settings(_env_file=None, openai_api_key="sk-test", chat_model=written, embedding_model=written)
    assert settings.chat_model_kind == rag.EMBEDDED
    assert isinstance(make_embeddings(settings), EmbeddedEmbeddings)
    with pytest.raises(InvalidSetting, match="COMPARE_MODELS"):
        rag.Settings(_env_file=None, compare_models=f"gpt-4o,{written}")


@pytest.mark.parametrize("name", KEYS)
def test_a_key_is_read_without_the_line_end_behind_it(name, monkeypatch):
    monkeypatch.setenv(name.upper(), " sk-right\r\n")
    assert getattr(rag.Settings(), name).get_secret_value() == "sk-right"
    monkeypatch.setenv(name.upper(), " \n")
    assert getattr(rag.Settings(), name) is None


def test_an_address_of_s3_that_is_none_is_refused_and_a_blank_one_is_not_set():
    for name, value in (
        ("aws_endpoint_url", "s3.example.com"),
        ("originals_url", "s3://b?endpoint_url=s3.example.com"),
    ):
        with pytest.raises(InvalidSetting, match=name.upper()):
            rag.Settings(**{name: value})
    settings = rag.Settings(aws_endpoint_url="https://s3.example.com\n", aws_region="ap-northeast-1\r\n")
    assert (settings.aws_endpoint_url, settings.aws_region) == ("https://s3.example.com", "ap-northeast-1")
    blank = rag.Settings(aws_endpoint_url=" ", aws_region=" ")
    assert blank.aws_endpoint_url is blank.aws_region is None


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("key", ["ｓｋ-test", "sk-…", "sk-\ntest"])
def test_a_key_that_fits_into_no_header_is_refused_and_not_repeated(name, key):
    with pytest.raises(InvalidSetting, match=f"{name.upper()} .* ASCII") as caught:
        rag.Settings(**{name: key})
    assert key not in str(caught.value)
    assert caught.value.__cause__ is None
    assert "半角" in caught.value.sentence("ja")


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        (settings, name)
        for settings in (rag.Settings, pages.ServerSettings)
        for name, field in settings.model_fields.items()
        if field.annotation in (bool, int, float) or get_origin(field.annotation) is Literal
    ],
)
def test_a_truth_a_number_or_a_choice_that_is_none_is_refused_with_what_it_must_be(settings, name):
    with pytest.raises(InvalidSetting) as caught:
        settings(_env_file=None, **{name: "sometimes"})
    english, japanese = settings.allowed[name]
    assert f"{name.upper()} is not usable: it must be {english}." in caught.value.sentence("en")
    assert f"{name.upper()} の値が使えません。{japanese}を" in caught.value.sentence("ja")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("model_timeout", "1e300"),
        ("parser_timeout", "1e12"),
        ("crawl_timeout", "1e300"),
        ("run_time_limit", "1e300"),
        ("parser_memory_mb", "100000000000000"),
    ],
)
def test_more_seconds_or_memory_than_a_machine_can_count_are_refused_and_not_met_by_each_question_or_file(name, value):
    with pytest.raises(InvalidSetting, match=rf"{name.upper()} is not usable: .* 1000000\."):
        rag.Settings(_env_file=None, **{name: value})
    assert getattr(rag.Settings(_env_file=None, **{name: "1000000"}), name) == 1_000_000
