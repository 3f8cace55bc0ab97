"""What can go wrong with the settings and the data folder."""

from index_store.base.errors.plain import IndexStoreError


class InvalidSetting(IndexStoreError):
    en = "The setting {variable} is not usable: it must be {allowed_en}. Correct it in the environment or in .env."
    ja = "設定 {variable} の値が使えません。{allowed_ja}を、環境変数または .env に指定してください。"


class EnvFileUnusable(InvalidSetting):
    en = "The file .env can't be used: {problem_en}. Correct it, then start again."
    ja = "ファイル .env を使えません({problem_ja})。直してから、もう一度起動してください。"


class StoreInUse(IndexStoreError):
    en = (
        "The data folder {folder} is in use by another process (pid {pid}), probably the app. "
        "Stop it first, or set DATA_DIR to another folder."
    )
    ja = (
        "データフォルダー {folder} は別のプロセス(pid {pid}、おそらくアプリ本体)が使用中です。"
        "それを終了するか、DATA_DIR に別のフォルダーを指定してください。"
    )


class DataFolderUnusable(IndexStoreError):
    en = (
        "The data folder {folder} can't be used: {reason}. Check that this account may read and write all files in it, "
        "and that the disk has room."
    )
    ja = (
        "データフォルダー {folder} を使えません({reason})。このアカウントが中のファイルをすべて読み書きできるか、"
        "ディスクに空きがあるかを確認してください。"
    )


class DataFolderIsFile(IndexStoreError):
    en = (
        "The data folder {folder} can't be used: it, or a folder above it, is a file or a link to what is not there, "
        "such as a disk that is not mounted. Correct the link, or set DATA_DIR to a folder."
    )
    ja = (
        "データフォルダー {folder} を使えません。そこまたは上の階層が、ファイルか、リンク先のないリンク"
        "(マウントされていないディスクなど)です。リンクを直すか、DATA_DIR にフォルダーを指定してください。"
    )


class NotAsRoot(IndexStoreError):
    en = (
        "The data folder {folder} belongs to account {account}. Run this as that account (`sudo -u '#{account}' …`): "
        "the app can't use files that root makes there."
    )
    ja = (
        "データフォルダー {folder} はアカウント {account} のものです。root が作るファイルはアプリから使えないため、"
        "そのアカウントで実行してください(`sudo -u '#{account}' …`)。"
    )


class DataFolderDamaged(IndexStoreError):
    en = "{file} is damaged, or not a file of this app. Put back a copy of the whole data folder {folder}."
    ja = (
        "{file} は壊れているか、このアプリのものではありません。"
        "データフォルダー {folder} 全体をバックアップから戻してください。"
    )


class DataFolderNewer(IndexStoreError):
    en = (
        "A newer version of this app has used the data folder {folder}: {file} has version {found}, and this app reads "
        "up to {known}. Nothing was changed. Start the newer version, or set DATA_DIR to another folder."
    )
    ja = (
        "データフォルダー {folder} は、このアプリの新しいバージョンで使われています({file} のバージョンは {found}、"
        "このアプリが読めるのは {known} まで)。何も変更していません。新しいバージョンで起動するか、"
        "DATA_DIR に別のフォルダーを指定してください。"
    )


class RestoreUnfinished(IndexStoreError):
    en = (
        "A restore into the data folder {folder} was interrupted, so some data is missing. Run `python -m "
        "index_store restore` again with the same backup, or set DATA_DIR to another folder."
    )
    ja = (
        "データフォルダー {folder} への復元が途中で止まっており、内容が揃っていません。"
        "同じバックアップで `python -m index_store restore` をもう一度実行するか、"
        "DATA_DIR に別のフォルダーを指定してください。"
    )


class FolderNotShared(IndexStoreError):
    en = (
        "{folder} is not the data folder of the app with this database: the originals of its documents are not there. "
        "Share the app's folder, and set DATA_DIR to it. If the app is new, start it first."
    )
    ja = (
        "{folder} は、このデータベースを使うアプリのデータフォルダーではなく、文書の元のファイルがありません。"
        "アプリのフォルダーを共有し、DATA_DIR に指定してください。初めて使う場合は、先にアプリを起動してください。"
    )


class UpgradeNotSaved(IndexStoreError):
    en = (
        "The app copies {file} before it updates it, but the copy failed: {reason}. Nothing was changed. Free "
        "{megabytes} MB in the data folder {folder}, then start again."
    )
    ja = (
        "{file} を新しいバージョンに更新する前にコピーを作りますが、作れませんでした({reason})。何も変更していません。"
        "データフォルダー {folder} に {megabytes} MB の空きを作り、もう一度起動してください。"
    )


class StoreFailed(IndexStoreError):
    en = "{name} could not be saved; the disk may be full. Make room in the data folder, then add it again."
    ja = (
        "{name} を保存できませんでした。ディスクの空きが足りないかもしれません。"
        "データフォルダーの空きを増やしてから、もう一度追加してください。"
    )


class ChangeFailed(IndexStoreError):
    en = "{name} could not be changed; the disk may be full. Make room in the data folder, then try again."
    ja = (
        "{name} を変更できませんでした。ディスクの空きが足りないかもしれません。"
        "データフォルダーの空きを増やしてから、もう一度試してください。"
    )
