"""Why one document is not loaded. The other documents continue."""

from index_store.base.errors.plain import IndexStoreError


class DocumentError(IndexStoreError):
    """One document can't be loaded; the others continue."""


class IndexHasTooManyFiles(DocumentError):
    en = (
        "{name} was not added: the index “{index}” already has the maximum of {limit:,} files. Remove some, or ask "
        "an admin for a higher limit."
    )
    ja = (
        "{name} は追加されていません。インデックス「{index}」のファイル数が上限の {limit:,} 件に達しています。"
        "不要なものを削除するか、管理者に上限の変更を依頼してください。"
    )


class IndexTooLarge(DocumentError):
    en = (
        "{name} was not added: the files of the index “{index}” would exceed {limit:,} MB. Remove some, or ask an "
        "admin for a higher limit."
    )
    ja = (
        "{name} は追加されていません。インデックス「{index}」のファイルの合計が上限の {limit:,} MB を超えます。"
        "不要なものを削除するか、管理者に上限の変更を依頼してください。"
    )


class DocumentMissing(DocumentError):
    en = "There is no file {name}. Check the path."
    ja = "ファイル {name} がありません。場所を確認してください。"


class DocumentForbidden(DocumentError):
    en = "The app has no permission to read the file {name}. Change its permissions, then add it again."
    ja = "ファイル {name} を読む権限がありません。権限を変えてから、もう一度追加してください。"


class NotAFile(DocumentError):
    en = "{name} is not a file. Give a document, or a folder of documents."
    ja = "{name} はファイルではありません。文書のファイルか、文書の入ったフォルダーを指定してください。"


class EmptyFolder(DocumentError):
    en = "The folder {name} has no files. Give a folder that contains documents."
    ja = "フォルダー {name} にはファイルがありません。文書の入ったフォルダーを指定してください。"


class FolderUnreadable(DocumentError):
    en = "The folder {name} can't be read ({reason}). Check its permissions, then add it again."
    ja = "フォルダー {name} を読み取れません({reason})。権限を確認してから、もう一度追加してください。"


class EmptyDocument(DocumentError):
    en = "The file {name} is empty. Add one that has text."
    ja = "ファイル {name} は空です。中身のあるファイルを追加してください。"


class TooLarge(DocumentError):
    en = "The file {name} is larger than {limit} MB. Split it, or raise MAX_FILE_MB."
    ja = "ファイル {name} は {limit} MB を超えています。分割するか、MAX_FILE_MB を大きくしてください。"


class PathTooLong(DocumentError):
    en = "The path of {name} has {length:,} bytes; the maximum is {most:,}. Shorten its folders' names."
    ja = "{name} のパスが {length:,} バイトです(上限 {most:,})。フォルダー名を短くして、追加し直してください。"


class UnknownKind(DocumentError):
    en = "Files like {name} can't be loaded. Convert it to one of: {known}."
    ja = "{name} の形式は読み込めません。次のどれかに変換してください: {known}。"


class SameName(DocumentError):
    en = "A file {name} was not added: another file of this name was added with it. Rename one of them, then add it."
    ja = "{name} という名前のファイルが同時に複数渡されたため、1 つは追加されていません。名前を変えて追加してください。"


class Superseded(DocumentError):
    en = "{name} was replaced or removed while it was being added. Add it again if you still need it."
    ja = "{name} は追加の途中で置き換えられたか、削除されました。必要なら、もう一度追加してください。"


class LeaseLost(DocumentError):
    en = (
        "{name} was taken over by another worker, because this worker did not respond. The other worker continues "
        "with it."
    )
    ja = "{name} の処理は、このワーカーの応答が途絶えたため別のワーカーが引き継ぎました。そのまま続きます。"


class Cancelled(DocumentError):
    en = "{name} was not added, because the job was cancelled. Retry it, or add it again."
    ja = "{name} は途中で中止されたため、追加されていません。再試行するか、もう一度追加してください。"


class WrongContent(DocumentError):
    en = (
        "{name} is not what its name says: its content is {content}. Save it in the format of its name, rename it if "
        "that kind can be loaded, or add the right file."
    )
    ja = (
        "{name} は名前と中身が合いません(中身は {content})。名前どおりの形式で保存し直すか、読み込める形式なら名前を"
        "直すか、正しいファイルを追加してください。"
    )


class UnknownEncoding(DocumentError):
    en = "The character encoding of {name} is not clear. Save it as UTF-8, then add it again."
    ja = "{name} の文字コードを判別できません。UTF-8 で保存し直してから、もう一度追加してください。"


class NoText(DocumentError):
    en = "There is no text in {name}. If it is a scan, run text recognition (OCR) on it, then add it again."
    ja = "{name} には文字がありません。スキャンした文書なら、文字認識(OCR)をかけてから、もう一度追加してください。"


class PageWithoutText(DocumentError):
    en = (
        "There is no text in the page {name} itself: scripts may show it, or it may be in frames. Open it in a "
        "browser, save it as PDF, then add that; or give the address of the page in the frame."
    )
    ja = (
        "ページ {name} 自体には文字がありません。スクリプトやフレームで表示するページの可能性があります。"
        "ブラウザーで開いて PDF として保存したものを追加するか、フレーム内のページのアドレスを指定してください。"
    )


class PasswordProtected(DocumentError):
    en = "{name} is protected by a password. Save a copy without it, then add that."
    ja = "{name} はパスワードで保護されています。パスワードのない複製を保存して、それを追加してください。"


class CopyProtected(DocumentError):
    en = "{name} is copy-protected (DRM). Ask the publisher for a copy without DRM, then add that."
    ja = "{name} はコピー防止(DRM)で保護されています。保護のない版を発行元から入手して、追加してください。"


class Unreadable(DocumentError):
    en = "{name} is damaged and can't be read. Open it in its own program, save it again, then add that."
    ja = "{name} は壊れていて読めません。元のアプリで開いて保存し直し、それを追加してください。"


class ParserFailed(DocumentError):
    en = (
        "{name} could not be read: the reader crashed or ran out of memory. Save the file again or split it, then "
        "add that."
    )
    ja = "{name} を読み込めませんでした(読み込み処理の異常終了かメモリー不足)。保存し直すか分割して、追加してください。"


class ParserTimedOut(DocumentError):
    en = "Reading {name} took longer than {seconds} seconds and was stopped. Save it again or split it, then add that."
    ja = "{name} の読み込みが {seconds} 秒を超えたため中止しました。保存し直すか分割して、追加してください。"


class TooMuchText(DocumentError):
    en = "{name} has more than {limit} characters of text. Split it, then add the parts."
    ja = "{name} の文字数が {limit} 字を超えています。分割してから、それぞれを追加してください。"


class NothingToLoad(DocumentError):
    en = "The archive {name} has no document of a kind that can be loaded. Add one of: {known}."
    ja = "アーカイブ {name} には読み込める形式の文書がありません。次の形式の文書を入れてください: {known}。"


class TooManyMembers(DocumentError):
    en = "The archive {name} has more than {limit} files. Split it into smaller ones, then add them."
    ja = "アーカイブ {name} には {limit} 個を超えるファイルがあります。小さく分けて追加してください。"


class ArchiveTooLarge(DocumentError):
    en = "The archive {name} unpacks to more than {limit} MB. Split it into smaller ones, then add them."
    ja = "アーカイブ {name} を展開すると {limit} MB を超えます。小さく分けて追加してください。"


class PackedTooTightly(DocumentError):
    en = "{name} unpacks to over {ratio} times its size, so it is faulty or hostile. Add only the files that you need."
    ja = "{name} は展開すると {ratio} 倍を超える異常なファイルです。必要な文書だけを取り出して追加してください。"


class NestedTooDeeply(DocumentError):
    en = "{name} is inside too many archives. Unpack it, then add it by itself."
    ja = "{name} は何重ものアーカイブの中にあります。取り出してから、それだけを追加してください。"


class UnsafeMember(DocumentError):
    en = "{name} was not unpacked: it is a link, or its name points outside the archive. Add the file itself."
    ja = "{name} はリンクか、別の場所を指す名前のため、取り出しませんでした。ファイル自体を追加してください。"
