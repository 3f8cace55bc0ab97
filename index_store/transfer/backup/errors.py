"""The errors of backup and restore, with sentences for people.

BackupError
├── NothingToBackUp, CatalogueNotInFolder, VectorsNotInFolder, OriginalsNotInFolder
├── BackupExists, BackupIsFolder, BackupToOutput, BackupUnderWay, BackupFailed
└── BackupUnreadable, NotABackup, BackupDamaged, BackupNewer, FolderNotEmpty, RestoreFailed
"""

from index_store.base.errors import IndexStoreError


class BackupError(IndexStoreError):
    """A backup or a restore failed."""


class NothingToBackUp(BackupError):
    en = "The data folder {folder} has no data of this app. Set DATA_DIR to the folder that the app uses."
    ja = (
        "データフォルダー {folder} にはこのアプリのデータがありません。"
        "アプリが使うフォルダーを DATA_DIR に指定してください。"
    )


class CatalogueNotInFolder(BackupError):
    en = (
        "The documents of the data folder {folder} are listed in the database of DATABASE_URL. Stop the app, back up "
        "the database with pg_dump, and copy the folder. If CHROMA_URL or ORIGINALS_URL is set, also stop the Chroma "
        "server and copy its folder, and copy the original files. The commands are in docs/growing.md, under “Backup”."
    )
    ja = (
        "データフォルダー {folder} の文書は、DATABASE_URL のデータベースで管理されています。"
        "アプリを止めてから、データベースを pg_dump で保存し、フォルダーをコピーしてください。"
        "CHROMA_URL や ORIGINALS_URL を設定している場合は、Chroma サーバーも止めてそのフォルダーをコピーし、"
        "元のファイルもコピーしてください。コマンドは docs/growing.md の「Backup」にあります。"
    )


class VectorsNotInFolder(BackupError):
    en = (
        "The vectors of the data folder {folder} are on a Chroma server. Stop the app and the server, then copy the "
        "data folder and the folder of the server. If ORIGINALS_URL is set, also copy the original files there. The "
        "commands are in docs/growing.md, under “Backup”."
    )
    ja = (
        "データフォルダー {folder} のベクトルは Chroma サーバーにあります。"
        "アプリとサーバーを止めてから、データフォルダーとサーバーのフォルダーをコピーしてください。"
        "ORIGINALS_URL を設定している場合は、そこにある元のファイルもコピーしてください。"
        "コマンドは docs/growing.md の「Backup」にあります。"
    )


class OriginalsNotInFolder(BackupError):
    en = (
        "The original files of the documents are in the place of ORIGINALS_URL, not in the data folder {folder}. Stop "
        "the app, then copy the data folder and all files in that place. The commands are in docs/growing.md, under "
        "“Backup”."
    )
    ja = (
        "文書の元のファイルはデータフォルダー {folder} ではなく、ORIGINALS_URL の場所にあります。"
        "アプリを止めてから、データフォルダーと、その場所にあるすべてのファイルをコピーしてください。"
        "コマンドは docs/growing.md の「Backup」にあります。"
    )


class BackupExists(BackupError):
    en = "There is already a file {file}. Give the backup another name, or remove that file first."
    ja = "ファイル {file} はすでにあります。バックアップに別の名前を付けるか、先にそのファイルを削除してください。"


class BackupIsFolder(BackupError):
    en = "{file} is a folder. Give the backup the name of a file, such as {example}."
    ja = "{file} はフォルダーです。{example} のように、作成するファイルの名前まで指定してください。"


class BackupToOutput(BackupError):
    en = "A backup can't be written to standard output. Give the name of a file, such as {example}."
    ja = "バックアップは標準出力に書き出せません。{example} のように、作成するファイルの名前を指定してください。"


class BackupUnderWay(BackupError):
    en = "Another backup of the data folder {folder} is running. Wait until it ends, then try again."
    ja = "データフォルダー {folder} は別のバックアップの途中です。終わってから、もう一度実行してください。"


class BackupFailed(BackupError):
    en = (
        "The backup {file} could not be made: {reason}. The data folder is unchanged. Choose a writable place with "
        "room for the data folder's databases twice and its other files once."
    )
    ja = (
        "バックアップ {file} を作れませんでした({reason})。データフォルダーはそのままです。"
        "書き込めて、データベースの 2 倍とほかのファイルの分の空きがある場所を指定してください。"
    )


class BackupUnreadable(BackupError):
    en = "The backup {file} can't be read: {reason}. Nothing was restored. Check its path, and whether you may read it."
    ja = (
        "バックアップ {file} を読み取れません({reason})。何も復元していません。"
        "ファイルの場所と、読み取りの権限を確認してください。"
    )


class NotABackup(BackupError):
    en = "{file} is not a backup of this app, or it is incomplete. Nothing was restored. Give a complete backup."
    ja = (
        "{file} はこのアプリのバックアップではないか、途中で切れています。何も復元していません。"
        "完全なファイルを指定してください。"
    )


class BackupDamaged(BackupError):
    en = "{name} in the backup {file} is not what was saved. Nothing was restored. Use another copy of the backup."
    ja = "バックアップ {file} の {name} が保存時の内容と違います。何も復元していません。別のコピーを使ってください。"


class BackupNewer(BackupError):
    en = (
        "A newer version of this app made the backup {file}: {name} has version {found}, and this app reads up to "
        "{known}. Nothing was restored. Restore it with the newer version."
    )
    ja = (
        "バックアップ {file} はこのアプリの新しいバージョンで作られています({name} のバージョンは {found}、"
        "このアプリが読めるのは {known} まで)。何も復元していません。新しいバージョンで復元してください。"
    )


class FolderNotEmpty(BackupError):
    en = (
        "The data folder {folder} is not empty: it contains {found}. Nothing was restored. Stop the app and move "
        "these files away, or set DATA_DIR to an empty folder."
    )
    ja = (
        "データフォルダー {folder} は空ではありません({found})。何も復元していません。"
        "アプリを止めてそれを別の場所に移すか、空のフォルダーを DATA_DIR に指定してください。"
    )


class RestoreFailed(BackupError):
    en = "The backup could not be restored into {folder}: {reason}. Make {megabytes} MB of room there, then try again."
    ja = (
        "{folder} にバックアップを復元できませんでした({reason})。"
        "{megabytes} MB の空きを作ってから、もう一度実行してください。"
    )
