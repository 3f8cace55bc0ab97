"""Settings from the environment and `.env`, whose mistakes are told in plain words."""

import os
from pathlib import Path
from typing import Any, ClassVar

from dotenv.parser import parse_stream
from pydantic import ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from index_store.base.errors import EnvFileUnusable, InvalidSetting

CURLY = ("“", "”", "„", "‘", "’", "＂", "＇")
"""quotation marks of word processors and full-width ones, which dotenv reads as part of a value"""


class PlainSettings(BaseSettings):
    """Settings whose errors name the variable and what is allowed, never the value: it may be a secret.

    `allowed` says, in English and in Japanese, what each field must be that can be wrong. A validator of several fields
    raises InvalidSetting itself.
    Raises InvalidSetting, EnvFileUnusable.
    """

    model_config = SettingsConfigDict(
        env_file=".env", env_file_encoding="utf-8", env_ignore_empty=True, extra="ignore", hide_input_in_errors=True
    )
    allowed: ClassVar[dict[str, tuple[str, str]]] = {}

    def __init__(self, **values: Any) -> None:
        try:
            if file := values.get("_env_file", ".env"):
                _refuse_what_is_no_setting(Path(file))
            super().__init__(**values)
            _refuse_no_certificates()
        except ValidationError as error:
            field = str(error.errors()[0]["loc"][0]).lower()
            en, ja = self.allowed.get(field, ("a value of the right kind", "正しい形式の値"))
            # `from None`: the chain would print the value.
            raise InvalidSetting(variable=field.upper(), allowed_en=en, allowed_ja=ja) from None
        except UnicodeDecodeError:
            en, ja = "it is not in UTF-8", "文字コードが UTF-8 ではありません"
            raise EnvFileUnusable(problem_en=en, problem_ja=ja) from None
        except OSError as error:
            en, ja = "this account may not read it", "このアカウントに読み取りの権限がありません"
            raise EnvFileUnusable(problem_en=en, problem_ja=ja) from error

    @field_validator("*", mode="before")
    @classmethod
    def _is_as_it_was_meant(cls, value: Any, info: ValidationInfo) -> Any:
        field = info.field_name or ""
        written = str(value) if isinstance(value, str | Path) else ""
        if any("\ud800" <= each <= "\udfff" for each in written):  # as Python reads bytes of the environment
            raise InvalidSetting(variable=field.upper(), allowed_en="in UTF-8", allowed_ja="UTF-8 の文字列")
        # Docker's --env-file keeps them: "embedded" would be a model of the service, and "anna@example.com" no admin. A
        # secret works with them, if it has them everywhere.
        is_secret = "SecretStr" in str(cls.model_fields[field].annotation)
        plain = written.strip()
        if not is_secret and len(plain) > 1 and plain[0] == plain[-1] and plain[0] in "\"'":
            en, ja = "without quotation marks around it", "引用符で囲まない値"
            raise InvalidSetting(variable=field.upper(), allowed_en=en, allowed_ja=ja)
        return value


def _refuse_no_certificates() -> None:
    """Clients read this file while they are made: each page and command would fail with an error of Python."""
    if not (file := os.environ.get("SSL_CERT_FILE")):
        return
    try:
        has_one = b"CERTIFICATE-----" in Path(file).read_bytes()
    except OSError:  # a container may lack it
        has_one = False
    if not has_one:
        en = "a file of certificates (PEM) that this account can read"
        ja = "このアカウントで読み取れる証明書のファイル(PEM 形式)"
        raise InvalidSetting(variable="SSL_CERT_FILE", allowed_en=en, allowed_ja=ja)


def names_in(env_file: Path) -> list[str]:
    """The names that a readable file sets; none if there is no such file."""
    if not env_file.is_file():
        return []
    with env_file.open(encoding="utf-8") as lines:
        return [read.key for read in parse_stream(lines) if read.key]


def _refuse_what_is_no_setting(env_file: Path) -> None:
    """Otherwise dotenv leaves it out, with a warning at most, and an app whose AUTH is there would have no sign-in."""
    if env_file.is_dir():  # Docker makes one where it mounts a file that is not there
        raise EnvFileUnusable(problem_en="it is a folder, not a file", problem_ja="ファイルではなくフォルダーです")
    if not env_file.is_file():
        return
    with env_file.open(encoding="utf-8") as lines:
        for read in parse_stream(lines):
            written = read.original.string
            blank = written[: len(written) - len(written.lstrip())].count("\n")
            number = read.original.line + blank
            is_setting = read.key is None or (read.value is not None and read.key.isascii())
            if read.error or not is_setting:
                en = (
                    f"line {number} is not of the form NAME=value: look for a missing quotation mark or a full-width ＝"
                )
                ja = f"{number} 行目が NAME=値 の形ではありません。引用符の閉じ忘れや全角の＝がないか確認してください"
                raise EnvFileUnusable(problem_en=en, problem_ja=ja)
            if read.key and written.partition("=")[2].lstrip().startswith(CURLY):
                en = f"the value in line {number} begins with a curly or full-width quotation mark: type a straight one"
                ja = f"{number} 行目の値が全角の引用符や “ で始まっています。半角の引用符にしてください"
                raise EnvFileUnusable(problem_en=en, problem_ja=ja)
