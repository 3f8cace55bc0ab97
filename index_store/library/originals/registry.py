"""Chooses the backend of the originals by ORIGINALS_URL."""

from pydantic import SecretStr

from index_store.base.settings.originals_url import OriginalsUrl
from index_store.base.settings.settings import Settings
from index_store.library.originals.backend import OriginalsBackend
from index_store.library.originals.folder import Folder

FOLDER = "originals"
"""in the data folder"""


def originals_backend(settings: Settings) -> OriginalsBackend:
    """Makes no request yet."""
    folder, is_alone = settings.data_dir / FOLDER, not settings.has_queue
    if settings.originals_url is None:
        return Folder(folder, is_alone=is_alone)
    address = OriginalsUrl.of(settings.originals_url.get_secret_value())
    if not address.bucket:
        return Folder(address.folder, is_alone=is_alone)
    # Imported only when it is used: it takes half a second and 30 MB.
    from index_store.library.originals.s3 import S3, Bucket

    said = address.parameters
    bucket = Bucket(
        address.bucket,
        address.prefix,
        endpoint_url=said.get("endpoint_url") or settings.aws_endpoint_url,
        region=said.get("region") or settings.aws_region,
        key=said.get("key") or _plain(settings.aws_access_key_id),
        secret=said.get("secret") or _plain(settings.aws_secret_access_key),
        token=None if "key" in said else _plain(settings.aws_session_token),
    )
    return S3(bucket, folder, is_alone=is_alone)


def _plain(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None
