"""The index store's settings, read once from the environment and `.env`."""

import os
import re
from pathlib import Path
from typing import ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import AnyHttpUrl, Field, SecretStr, field_validator, model_validator

from index_store.base.errors import InvalidSetting
from index_store.base.settings.originals_url import OriginalsUrl
from index_store.base.settings.plain_settings import PlainSettings

MEGABYTE = 1024 * 1024

EMBEDDED = "embedded"
"""instead of the name of a model: the model on this machine, even if a service is set"""

KEY = ("a key of ASCII characters in one line, not full-width ones", "半角の英数字と記号だけの 1 行のキー")
"""what `header_value` allows"""

MODEL = ("the name of a model, without a comment behind it", "モデル名(後ろにコメントは書けません)")

NO_COMMAS = frozenset("、，;；")
"""with which people separate names in place of commas; no host, model or group has one in its name"""

GROUPS = ("names of groups separated by commas", "カンマ(半角)で区切ったグループ名")

MOST_SECONDS = 1_000_000
"""of a time limit: eleven days. Timers of the operating system overflow with centuries"""

SECONDS = (f"a number of seconds above 0, at most {MOST_SECONDS}", f"0 より大きく {MOST_SECONDS} 以下の秒数")

SHORTEST_SECRET = 8
"""characters; a shorter one, such as the placeholder of a server without keys, is a common word"""

_COMMENT = re.compile(r"\s#")
"""behind a value, which Docker and systemd take for a part of it"""


class Settings(PlainSettings):
    allowed: ClassVar[dict[str, tuple[str, str]]] = {
        "data_dir": ("a folder", "フォルダーの場所"),
        "database_url": (
            "an address such as postgresql+psycopg://user:password@host/database, an @ in the password as %40",
            "postgresql+psycopg://ユーザー:パスワード@ホスト/データベース の形のアドレス(パスワード中の @ は %40)",
        ),
        "chroma_url": (
            "an address such as http://127.0.0.1:8000 or https://user:password@host, with nothing after a ? or #",
            "http://127.0.0.1:8000 や https://ユーザー:パスワード@ホスト の形のアドレス(? や # 以降は不可)",
        ),
        "originals_url": (
            "an address such as s3://bucket/prefix or file:///mnt/share, for S3 with nothing after a ? but "
            "endpoint_url, region, key and secret",
            "s3://バケット/プレフィックス または file:///mnt/share の形のアドレス"
            "(S3 の場合、? の後は endpoint_url、region、key、secret のみ)",
        ),
        "aws_access_key_id": KEY,
        "aws_secret_access_key": KEY,
        "aws_session_token": KEY,
        "aws_endpoint_url": ("an http or https address", "http または https のアドレス"),
        "workers": ("here or elsewhere", "here または elsewhere"),
        "openai_api_key": KEY,
        "openai_base_url": ("an http or https address", "http または https のアドレス"),
        "embedding_model": MODEL,
        "chunk_size": ("a whole number from 50 to 2000", "50〜2000 の整数"),
        "chunk_overlap": ("a whole number from 0 to half of CHUNK_SIZE", "0〜CHUNK_SIZE の半分の整数"),
        "model_timeout": SECONDS,
        "model_retries": ("a whole number from 0 to 10", "0〜10 の整数"),
        "max_file_mb": ("a number of megabytes above 0", "0 より大きいメガバイト数"),
        "parser_workers": ("a whole number from 1 to 64", "1〜64 の整数"),
        "parser_memory_mb": ("a whole number from 256 to 1000000", "256〜1000000 の整数"),
        "parser_timeout": SECONDS,
        "fusion": ("score or rank", "score または rank"),
        "keyword_weight": ("a number from 0 to 1", "0〜1 の数"),
        "crawl_rate": ("a number above 0", "0 より大きい数"),
        "crawl_at_once": ("a whole number from 1 to 64", "1〜64 の整数"),
        "crawl_timeout": SECONDS,
        "admins": (
            "email addresses or user ids (sub) separated by commas",
            "カンマ(半角)で区切ったメールアドレスまたはユーザー ID(sub)",
        ),
        "admin_groups": GROUPS,
        "editor_groups": GROUPS,
        "default_role": ("reader or editor", "reader または editor"),
        "files_per_index": ("a whole number, 0 for no limit", "0 以上の整数(0 は無制限)"),
        "megabytes_per_index": ("a whole number, 0 for no limit", "0 以上の整数(0 は無制限)"),
        "audit_days": ("a whole number from 0 to 3650", "0〜3650 の整数"),
        "audit_questions": ("true or false", "true または false"),
    }

    data_dir: Path = Path("data")
    database_url: SecretStr | None = None
    """of Postgres, for catalogue, history and checkpoints; None: they are files in the data folder"""
    chroma_url: SecretStr | None = None
    """of a Chroma server, for the vectors; None: they are files in the data folder"""
    originals_url: SecretStr | None = None
    """of S3 or of a folder, for the documents' original files; None: they are files in the data folder"""
    # Named as in all of Amazon's programs. If they are not set, s3fs uses the machine's role.
    aws_access_key_id: SecretStr | None = None
    aws_secret_access_key: SecretStr | None = None
    aws_session_token: SecretStr | None = None
    aws_endpoint_url: str | None = None
    aws_region: str | None = None
    workers: Literal["here", "elsewhere"] = "here"
    """which processes read and embed added documents, if there is a queue: this one too, or only others"""
    openai_api_key: SecretStr | None = None
    openai_base_url: str | None = None
    embedding_model: str = "text-embedding-3-small"
    chunk_size: int = Field(default=300, ge=50, le=2000)
    """in wide (Japanese) characters; see parsing/chunking/width.py"""
    chunk_overlap: int = Field(default=40, ge=0)
    model_timeout: float = Field(default=60, gt=0, le=MOST_SECONDS, allow_inf_nan=False)
    """seconds"""
    model_retries: int = Field(default=2, ge=0, le=10)
    max_file_mb: float = Field(default=200, gt=0, allow_inf_nan=False)
    parser_workers: int = Field(default=2, ge=1, le=64)
    """processes"""
    parser_memory_mb: int = Field(default=1024, ge=256, le=1_000_000)
    """of address space per process, on top of what the libraries take"""
    parser_timeout: float = Field(default=120, gt=0, le=MOST_SECONDS, allow_inf_nan=False)
    """seconds per file"""
    fusion: Literal["score", "rank"] = "score"
    """how a hybrid search joins its two sides; see search/fusion.py"""
    keyword_weight: float = Field(default=0.7, ge=0, le=1, allow_inf_nan=False)
    """the weight of the keyword side; the vector side has the rest"""
    crawl_allowed: str = ""
    """internal hosts and networks that may be crawled, separated by commas"""
    crawl_rate: float = Field(default=4, gt=0, allow_inf_nan=False)
    """requests per second to one host"""
    crawl_at_once: int = Field(default=4, ge=1, le=64)
    crawl_timeout: float = Field(default=30, gt=0, le=MOST_SECONDS, allow_inf_nan=False)
    """seconds per page"""
    # Names separated by commas; `comma_separated` splits them. What they mean at a sign-in: access/people/person.py
    admins: str = ""
    """verified mail addresses, or subjects"""
    admin_groups: str = ""
    editor_groups: str = ""
    default_role: Literal["editor", "reader"] = "reader"
    """of people who are in none of these lists"""
    files_per_index: int = Field(default=0, ge=0)
    """0: no limit; groups may have others, see access/limits.py"""
    megabytes_per_index: int = Field(default=0, ge=0)
    """the same, for originals"""
    audit_days: int = Field(default=365, ge=0, le=3650)
    """days for which the audit log is kept; 0: there is no audit log"""
    audit_questions: bool = False
    """whether the audit log has the text of questions"""

    @field_validator("data_dir")
    @classmethod
    def _may_be_in_the_home_folder(cls, folder: Path) -> Path:
        return home_expanded(folder)

    @field_validator("embedding_model")
    @classmethod
    def _embedding_model_may_be_embedded(cls, name: str) -> str:
        return model_name(name)

    @field_validator("openai_api_key", "aws_access_key_id", "aws_secret_access_key", "aws_session_token")
    @classmethod
    def _key_fits_into_a_header(cls, key: SecretStr | None) -> SecretStr | None:
        return header_value(key)

    @field_validator("database_url")
    @classmethod
    def _is_of_postgres(cls, url: SecretStr | None) -> SecretStr | None:
        plain = url.get_secret_value().strip() if url else ""
        if not plain:
            return None
        from sqlalchemy import make_url  # imported only if there is such a database
        from sqlalchemy.exc import ArgumentError

        # Not urlsplit: a # or ? in the password would end the address.
        try:
            parts = make_url(plain)
        except ArgumentError:
            raise ValueError from None  # the chain would print the value
        is_known = parts.drivername.lower() in ("postgresql+psycopg", "postgresql", "postgres")
        # An @ in the host is of the end of a password, which would be logged as a part of it.
        if not is_known or not (parts.database or "").strip("/") or "@" in (parts.host or ""):
            raise ValueError
        return SecretStr(plain)

    @field_validator("chroma_url")
    @classmethod
    def _is_of_a_server(cls, url: SecretStr | None) -> SecretStr | None:
        plain = url.get_secret_value().strip() if url else ""
        if not plain:
            return None
        AnyHttpUrl(plain)
        parts = urlsplit(plain)
        if not parts.hostname or parts.port == 0 or "?" in plain or "#" in plain:
            raise ValueError
        return SecretStr(plain)

    @field_validator("originals_url")
    @classmethod
    def _is_of_s3_or_a_folder(cls, url: SecretStr | None) -> SecretStr | None:
        plain = url.get_secret_value().strip() if url else ""
        if not plain:
            return None
        OriginalsUrl.of(plain)
        return SecretStr(plain)

    @field_validator("openai_base_url", "aws_endpoint_url")
    @classmethod
    def _is_an_address(cls, url: str | None) -> str | None:
        return web_address(url) if url and url.strip() else None

    @field_validator("admins")
    @classmethod
    def _are_separated_by_commas(cls, names: str) -> str:
        # Otherwise nobody would be an admin, and nothing would say why.
        if any(each.count("@") + each.count("＠") > 1 for each in comma_separated(names)) or _COMMENT.search(names):
            raise ValueError
        return names

    @field_validator("admin_groups", "editor_groups")
    @classmethod
    def _groups_are_separated_by_commas(cls, names: str) -> str:
        # Otherwise nobody would be in them, and nothing would say why.
        if NO_COMMAS & set(names):
            raise ValueError
        return names

    @field_validator("aws_region")
    @classmethod
    def _blank_is_not_set(cls, name: str | None) -> str | None:
        return (name or "").strip() or None

    @model_validator(mode="after")
    def _overlap_leaves_room(self) -> Self:
        # Above half, each chunk would mostly repeat the one before, and splitting might never end.
        if self.chunk_overlap * 2 > self.chunk_size:
            en, ja = self.allowed["chunk_overlap"]
            raise InvalidSetting(variable="CHUNK_OVERLAP", allowed_en=en, allowed_ja=ja)
        return self

    @property
    def has_queue(self) -> bool:
        """Whether several processes can work on the same documents."""
        return self.database_url is not None and self.chroma_url is not None

    @property
    def service_is_set(self) -> bool:
        """Whether to use a model service: servers such as Ollama need an address and no key."""
        return self.openai_api_key is not None or self.openai_base_url is not None


def comma_separated(names: str) -> frozenset[str]:
    """The parts of a list that is separated by commas."""
    return frozenset(part.strip() for part in names.split(",") if part.strip())


def home_expanded(path: Path) -> Path:
    """No shell has read `.env`, so a ~ is still there, and the line end of a file from Windows may be.

    Raises ValueError for a blank path, which would be the present folder.
    """
    written = str(path).strip()
    if not written:
        raise ValueError
    return Path(os.path.expanduser(written))  # noqa: PTH111 - Path.expanduser() raises if there is no such account


def web_address(url: str) -> str:
    """Raises ValueError, also for one with a comment, which Docker and systemd take for a part of a value."""
    url = url.strip()
    AnyHttpUrl(url)
    if re.search(r"\s", url):
        raise ValueError
    return url


def model_name(name: str) -> str:
    """EMBEDDED in any case: as the name of a model, Embedded would send documents and questions to the service.

    Raises ValueError if a comment stands behind it, as in `web_address`.
    """
    name = name.strip()
    if _COMMENT.search(name):
        raise ValueError
    return EMBEDDED if name.lower() == EMBEDDED else name


def header_value(key: SecretStr | None) -> SecretStr | None:
    """The key as it goes into a header, without the line end of the file that it comes from. Blank is not set."""
    plain = key.get_secret_value().strip() if key else ""
    if not plain.isascii() or not plain.isprintable():
        raise ValueError  # a client would report it as a broken connection
    return SecretStr(plain) if plain else None
