"""What can go wrong with an index, its documents and its jobs."""

from index_store.base.errors.plain import IndexStoreError


class BadIndexName(IndexStoreError):
    en = (
        "An index name has 1 to 64 characters, without slashes, control or invisible characters, or spaces at its "
        "ends. Choose another."
    )
    ja = (
        "インデックス名は 1〜64 文字で、スラッシュ・制御文字・見えない文字・前後の空白は使えません。"
        "別の名前にしてください。"
    )


class IndexExists(IndexStoreError):
    en = "There is already an index named “{index}”. Choose another name."
    ja = "「{index}」というインデックスはすでにあります。別の名前にしてください。"


class UnknownIndex(IndexStoreError):
    en = "There is no index named “{index}”. Choose one of: {known}."
    ja = "「{index}」というインデックスはありません。次から選んでください: {known}。"


class EmptyIndex(IndexStoreError):
    en = "The index “{index}” has no document that is ready. Add one, or ask someone who can add documents."
    ja = "インデックス「{index}」には検索できる文書がありません。文書を追加するか、追加できる人に依頼してください。"


class IndexNotReady(EmptyIndex):
    """Documents are being added, and none is ready yet."""

    en = "The documents of the index “{index}” are still being added. Ask again as soon as the first one is ready."
    ja = "インデックス「{index}」の文書はまだ追加の途中です。最初の文書の準備ができてから、もう一度質問してください。"


class UnknownDocument(IndexStoreError):
    en = "“{source}” is not in the index “{index}”. List the index to see its documents."
    ja = "「{source}」はインデックス「{index}」にありません。一覧で確認してください。"


class DocumentGone(IndexStoreError):
    """A document that is asked for by its id, as in a link."""

    en = (
        "This document was removed, or you have no right to read it. The Documents page lists the documents that you "
        "can read."
    )
    ja = "この文書は削除されたか、表示する権限がありません。閲覧できる文書は「文書」ページで確認できます。"


class UnknownSection(IndexStoreError):
    en = "This passage no longer exists: its document was replaced or removed. Ask again to search the current version."
    ja = "この箇所はもうありません。文書が更新または削除されました。もう一度質問すると、今の版から検索します。"


class OriginalMissing(IndexStoreError):
    en = "The original file of “{name}” is not stored. Add the document again."
    ja = "「{name}」の元のファイルは保存されていません。もう一度追加してください。"


class UnknownJob(IndexStoreError):
    en = "This job is not on your list. Open the Documents page to see what is being added."
    ja = "この処理は一覧にありません。「文書」ページで、追加中の文書を確認してください。"
