"""What can go wrong with the original files of documents, where ORIGINALS_URL says that they are."""

from index_store.base.errors.plain import IndexStoreError


class OriginalsInFolder(IndexStoreError):
    en = (
        "The original files of the documents are in {place}, and ORIGINALS_URL names another place. Nothing was "
        "changed; remove ORIGINALS_URL, or copy all that is in {place} there as it is, move {place} away, and start "
        "again."
    )
    ja = (
        "文書の元のファイルは {place} にありますが、ORIGINALS_URL は別の場所を指しています。何も変更していません。"
        "ORIGINALS_URL を外すか、{place} の中身をそのまま新しい場所にコピーし、"
        "{place} を別の場所に移してから、もう一度起動してください。"
    )


class OriginalsElsewhere(IndexStoreError):
    en = (
        "The original files of the documents are where ORIGINALS_URL named, and it is not set any more. Nothing was "
        "changed; set it again, or copy all that is there to {place} as it is, delete the file {noted}, and start "
        "again."
    )
    ja = (
        "文書の元のファイルは ORIGINALS_URL の場所にありますが、いまは設定されていません。何も変更していません。"
        "もう一度設定するか、その中身をそのまま {place} にコピーし、"
        "ファイル {noted} を削除してから、もう一度起動してください。"
    )


class OriginalsError(IndexStoreError):
    """Where the originals are kept, it did not answer as it should."""


class OriginalsAway(OriginalsError):
    en = (
        "The storage {host}, which has the documents' original files, can't be reached just now. Search and past "
        "answers go on; wait a moment, then try again. If it lasts: see that the service which ORIGINALS_URL names "
        "runs and lets this app in."
    )
    ja = (
        "文書の元のファイルを保存している {host} に接続できません。検索と過去の回答はそのまま使えます。"
        "少し待ってから、もう一度試してください。"
        "続くときは、ORIGINALS_URL のサービスが動いていて、このアプリの接続を許しているか確認してください。"
    )


class OriginalsFailed(OriginalsError):
    en = (
        "The storage {host}, which has the documents' original files, answered with an error ({code}). Try again; if "
        "it lasts, see its log and its disk, and whether ORIGINALS_URL and AWS_REGION are right."
    )
    ja = (
        "文書の元のファイルを保存している {host} がエラー({code})を返しました。もう一度試してください。"
        "続くときは、サービスのログとディスクの空き、ORIGINALS_URL と AWS_REGION を確認してください。"
    )


class OriginalsRefused(OriginalsError):
    en = (
        "The storage {host} does not let this app into the bucket {bucket}, which has the documents' original files. "
        "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to a key that may read, write, list and delete there."
    )
    ja = (
        "{host} が、文書の元のファイルを保存するバケット {bucket} へのアクセスを許可していません。"
        "読み取り・書き込み・一覧・削除ができるキーを AWS_ACCESS_KEY_ID と AWS_SECRET_ACCESS_KEY に設定してください。"
    )


class BucketMissing(OriginalsError):
    en = "There is no bucket {bucket} at {host}, as ORIGINALS_URL says. Make it, or correct ORIGINALS_URL."
    ja = "ORIGINALS_URL のバケット {bucket} が {host} にありません。作成するか、ORIGINALS_URL を直してください。"


class OriginalsOfAnother(OriginalsError):
    en = (
        "The files at {place} are those of another installation of this app. Nothing was changed there; set "
        "ORIGINALS_URL to a place of its own, such as another prefix."
    )
    ja = (
        "{place} にあるのは、このアプリの別の環境のファイルです。何も変更していません。"
        "ORIGINALS_URL に別の場所(別のプレフィックスなど)を指定してください。"
    )


class OriginalsNotThere(OriginalsError):
    en = (
        "The original files of these documents are not at {place}, or those of other documents are. Nothing was "
        "changed there; see that the share is mounted and that ORIGINALS_URL names the right place."
    )
    ja = (
        "{place} には、この環境の文書の元のファイルがないか、別の文書のファイルがあります。何も変更していません。"
        "共有フォルダーがマウントされているか、ORIGINALS_URL が正しいかを確認してください。"
    )
