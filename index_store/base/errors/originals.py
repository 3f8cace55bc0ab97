"""What can go wrong with original files in the place that ORIGINALS_URL names."""

from index_store.base.errors.plain import IndexStoreError


class OriginalsInFolder(IndexStoreError):
    en = (
        "The original files of the documents are in {place}, but ORIGINALS_URL names another place. Nothing was "
        "changed. Remove ORIGINALS_URL. Or copy the contents of {place} to the new place, move {place} away, and start "
        "again."
    )
    ja = (
        "文書の元のファイルは {place} にありますが、ORIGINALS_URL は別の場所を指しています。何も変更していません。"
        "ORIGINALS_URL を外すか、{place} の中身をそのまま新しい場所にコピーし、"
        "{place} を別の場所に移してから、もう一度起動してください。"
    )


class OriginalsElsewhere(IndexStoreError):
    en = (
        "The original files of the documents are in the place that ORIGINALS_URL named, but it is no longer set. "
        "Nothing was changed. Set it again. Or copy the contents of that place to {place}, delete the file {noted}, "
        "and start again."
    )
    ja = (
        "文書の元のファイルは以前の ORIGINALS_URL の場所にありますが、今は ORIGINALS_URL が設定されていません。"
        "何も変更していません。もう一度設定するか、その場所の中身をそのまま {place} にコピーし、"
        "ファイル {noted} を削除してから、もう一度起動してください。"
    )


class OriginalsError(IndexStoreError):
    """The storage of the originals did not answer correctly."""


class OriginalsAway(OriginalsError):
    en = (
        "The storage {host}, which has the documents' original files, can't be reached. Search and past answers still "
        "work. Wait a moment, then try again. If the problem lasts, check that the service in ORIGINALS_URL is running "
        "and accepts connections from this app."
    )
    ja = (
        "文書の元のファイルを保存している {host} に接続できません。検索と過去の回答はそのまま使えます。"
        "少し待ってから、もう一度試してください。"
        "続くときは、ORIGINALS_URL のサービスが動いていて、このアプリからの接続を許可しているか確認してください。"
    )


class OriginalsFailed(OriginalsError):
    en = (
        "The storage {host}, which has the documents' original files, answered with an error ({code}). Try again. If "
        "the problem lasts, check its log, its disk space, ORIGINALS_URL and AWS_REGION."
    )
    ja = (
        "文書の元のファイルを保存している {host} がエラー({code})を返しました。もう一度試してください。"
        "続くときは、サービスのログとディスクの空き、ORIGINALS_URL と AWS_REGION を確認してください。"
    )


class OriginalsRefused(OriginalsError):
    en = (
        "The storage {host} does not give this app access to the bucket {bucket}, which has the documents' original "
        "files. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to a key that may read, write, list and delete there."
    )
    ja = (
        "{host} が、文書の元のファイルを保存するバケット {bucket} へのアクセスを許可していません。"
        "読み取り・書き込み・一覧・削除ができるキーを AWS_ACCESS_KEY_ID と AWS_SECRET_ACCESS_KEY に設定してください。"
    )


class BucketMissing(OriginalsError):
    en = "{host} has no bucket {bucket}, which ORIGINALS_URL names. Create it, or correct ORIGINALS_URL."
    ja = "ORIGINALS_URL のバケット {bucket} が {host} にありません。作成するか、ORIGINALS_URL を直してください。"


class OriginalsOfAnother(OriginalsError):
    en = (
        "The files at {place} belong to another installation of this app. Nothing was changed there. Set "
        "ORIGINALS_URL to another place, such as another prefix."
    )
    ja = (
        "{place} にあるのは、このアプリの別の環境のファイルです。何も変更していません。"
        "ORIGINALS_URL に別の場所(別のプレフィックスなど)を指定してください。"
    )


class OriginalsNotThere(OriginalsError):
    en = (
        "The original files of these documents are not at {place}, or other files are there. Nothing was changed "
        "there. Check that the share is mounted and that ORIGINALS_URL names the right place."
    )
    ja = (
        "{place} には、この環境の文書の元のファイルがないか、別の文書のファイルがあります。何も変更していません。"
        "共有フォルダーがマウントされているか、ORIGINALS_URL が正しいかを確認してください。"
    )
