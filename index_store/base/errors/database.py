"""What can go wrong with the database, whether it is a file or a server."""

from index_store.base.errors.plain import IndexStoreError


class DatabaseAway(IndexStoreError):
    en = (
        "The database can't be reached. Wait a moment, then try again. If the problem lasts, check that the server "
        "in DATABASE_URL is running and accepts connections from this app."
    )
    ja = (
        "データベースに接続できません。少し待ってから、もう一度試してください。"
        "続くときは、DATABASE_URL のサーバーが動いていて、このアプリからの接続を許可しているか確認してください。"
    )


class DatabaseRefuses(DatabaseAway):
    en = (
        "The database in DATABASE_URL refuses what the app needs: {reason}. Check the parameters of this address, that "
        "the server accepts changes, and that the account of the app owns the schemas."
    )
    ja = (
        "DATABASE_URL のデータベースが、アプリに必要な操作を拒否しました({reason})。アドレスのパラメーターと、"
        "サーバーが変更を受け付けること、アプリのアカウントがスキーマの所有者であることを確認してください。"
    )


class DatabaseInUse(IndexStoreError):
    en = (
        "Another app with its own data folder is using the database in DATABASE_URL. Stop that app first, or set "
        "DATABASE_URL to another database."
    )
    ja = (
        "DATABASE_URL のデータベースは、別のデータフォルダーを持つ別のアプリが使用中です。"
        "それを終了するか、DATABASE_URL に別のデータベースを指定してください。"
    )


class OlderVersionRuns(IndexStoreError):
    en = (
        "The database is of an earlier version, and an app or a worker of that version is still using it. Stop all "
        "of them, then reload. This app then updates the database."
    )
    ja = (
        "データベースは以前のバージョンのもので、そのバージョンのアプリかワーカーがまだ使用中です。"
        "それらをすべて終了してから、再読み込みしてください。このアプリがデータベースを新しいバージョンに更新します。"
    )


class CatalogueInFolder(IndexStoreError):
    en = (
        "The data folder {folder} has its own catalogue, but DATABASE_URL names another one, which does not have "
        "these documents. Nothing was changed. Remove DATABASE_URL, or set DATA_DIR to an empty folder. "
        "To move the documents there, run `python -m index_store move --to servers`."
    )
    ja = (
        "データフォルダー {folder} には独自のカタログがありますが、"
        "DATABASE_URL はその文書を持たない別のデータベースを指しています。何も変更していません。"
        "DATABASE_URL を外すか、DATA_DIR に空のフォルダーを指定してください。"
        "文書をそこへ移すには `python -m index_store move --to servers` を実行してください。"
    )


class CatalogueInDatabase(IndexStoreError):
    en = (
        "The documents of the data folder {folder} are listed in another database than the one that is set. Nothing "
        "was changed. Set DATABASE_URL to that database, or DATA_DIR to an empty folder."
    )
    ja = (
        "データフォルダー {folder} の文書は、今設定されているものとは別のデータベースで管理されています。"
        "何も変更していません。"
        "DATABASE_URL にそのデータベースを指定するか、DATA_DIR に空のフォルダーを指定してください。"
    )


class NoQueue(IndexStoreError):
    en = (
        "A worker needs the same DATABASE_URL and CHROMA_URL as the app. It takes its work from that database and "
        "writes vectors to the Chroma server, because two processes on one local Chroma would corrupt it. Set both."
    )
    ja = (
        "ワーカーには、アプリと同じ DATABASE_URL と CHROMA_URL が必要です。作業はデータベースから受け取り、ベクトルは "
        "Chroma サーバーに書き込みます(ローカルの Chroma を 2 つのプロセスで使うと壊れます)。両方を設定してください。"
    )


class SchemaTaken(IndexStoreError):
    en = (
        "The database {place} is not empty: its schema {name} belongs to another installation or an earlier move. "
        "Nothing was changed. Set DATABASE_URL to an empty database. If nobody needs the schema, drop it."
    )
    ja = (
        "データベース {place} は空ではありません。スキーマ {name} は、別のインストールのものか、以前の移動のものです。"
        "何も変更していません。DATABASE_URL に空のデータベースを指定してください。"
        "スキーマが不要なら削除してください。"
    )


class MoveUnfinished(IndexStoreError):
    en = (
        "A move into the database of DATABASE_URL is not finished, so some data is missing. Run `python -m index_store "
        "move --to servers` again with the original data folder, or set DATABASE_URL to another database."
    )
    ja = (
        "DATABASE_URL のデータベースへの移動が終わっておらず、内容が揃っていません。移動元のデータフォルダーで "
        "`python -m index_store move --to servers` をもう一度実行するか、"
        "DATABASE_URL に別のデータベースを指定してください。"
    )
