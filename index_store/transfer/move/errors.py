"""The errors of a move, and the sentences at its end, for people.

MoveError
└── NothingToMove, NowhereToMove, StillUsed, UnknownDatabase, CountsDiffer, MoveFailed
MoveEnd
└── MovedToServers, MovedToFolder, NothingLeft
"""

from index_store.base.errors import IndexStoreError, Sentences


class MoveError(IndexStoreError):
    """Nothing was moved, or only a part. The data in use is unchanged."""


class NothingToMove(MoveError):
    en = "The data folder {folder} has no data of this app. Set DATA_DIR to the folder that the app uses."
    ja = (
        "データフォルダー {folder} にはこのアプリのデータがありません。"
        "アプリが使うフォルダーを DATA_DIR に指定してください。"
    )


class NowhereToMove(MoveError):
    en = (
        "The destination is not set. Set DATABASE_URL to an empty Postgres database and CHROMA_URL to a Chroma server, "
        "in `.env` or for this command, then run it again."
    )
    ja = (
        "移動先が指定されていません。DATABASE_URL に空の Postgres データベース、CHROMA_URL に Chroma サーバーを"
        "(`.env` またはこのコマンドの環境変数で)指定して、もう一度実行してください。"
    )


class StillUsed(MoveError):
    en = (
        "An app, a worker or a command is still using the database of DATABASE_URL. Nothing was changed. Stop all of "
        "them, then run this again."
    )
    ja = (
        "DATABASE_URL のデータベースを、アプリ・ワーカー・コマンドのいずれかがまだ使用しています。"
        "何も変更していません。すべて止めてから、もう一度実行してください。"
    )


class UnknownDatabase(MoveError):
    en = (
        "The data folder {folder} has a database {name}, which this version of the app does not know and can't move. "
        "Nothing was changed. If the file does not belong to the app, move it to another place."
    )
    ja = (
        "データフォルダー {folder} に、このバージョンのアプリが知らないデータベース {name} があり、移動できません。"
        "何も変更していません。アプリのものでなければ、別の場所に移してください。"
    )


class CountsDiffer(MoveError):
    en = (
        "{what} has {there} rows after the move, but {wanted} before, so the original data stays in use. Check that "
        "nothing else writes to either place, then run the same command again."
    )
    ja = (
        "{what} の行数が、移動元は {wanted}、移動先は {there} で一致しないため、元のデータを使い続けます。"
        "ほかに書き込むものがないことを確認して、同じコマンドをもう一度実行してください。"
    )


class MoveFailed(MoveError):
    en = (
        "The move stopped: {reason}. The original data is unchanged and stays in use. If a disk is full, make room on "
        "it. Then run the same command again: it continues where it stopped."
    )
    ja = (
        "移動が途中で止まりました({reason})。元のデータはそのままで、引き続き使えます。"
        "ディスクが一杯なら空きを作り、同じコマンドをもう一度実行してください。続きから再開します。"
    )


class MoveEnd(Sentences):
    """What was done, and what is left to do."""


class MovedToServers(MoveEnd):
    en = (
        "Moved. The app uses the servers as long as its settings name them. The original data is in {aside}. Delete it "
        "when you no longer want to go back."
    )
    ja = (
        "移動しました。設定にサーバーのアドレスがある限り、アプリはサーバーを使います。"
        "元のデータは {aside} にあります。戻す必要がなくなったら削除してください。"
    )


class MovedToFolder(MoveEnd):
    en = (
        "Moved. Remove DATABASE_URL and CHROMA_URL from the settings before you start the app. The data on the servers "
        "is unchanged. Delete {left} there when you no longer want to go back."
    )
    ja = (
        "移動しました。アプリを起動する前に、DATABASE_URL と CHROMA_URL を設定から外してください。"
        "サーバーのデータはそのままです。戻す必要がなくなったら {left} を削除してください。"
    )


class NothingLeft(MoveEnd):
    en = "All data has already been moved. There is nothing left to move."
    ja = "すべて移動済みです。移動するものは残っていません。"
