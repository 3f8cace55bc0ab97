"""What can go wrong with a question and the options of its search."""

from index_store.base.errors.plain import IndexStoreError


class EmptyQuestion(IndexStoreError):
    en = "The question is empty. Write a question."
    ja = "質問が空です。質問を入力してください。"


class QuestionTooLong(IndexStoreError):
    en = (
        "The question has {length:,} characters; the maximum is {most:,}. Put the long text into a file, attach it, "
        "and ask a shorter question about it."
    )
    ja = (
        "質問が {length:,} 文字あります(上限 {most:,} 文字)。長い文章はファイルにして添付し、"
        "それについて短く質問してください。"
    )


class UnknownMode(IndexStoreError):
    en = "“{mode}” is not a search mode. Choose one of: {known}."
    ja = "「{mode}」という検索方法はありません。次から選んでください: {known}。"


class UnknownUnit(IndexStoreError):
    en = "“{unit}” is not a search unit. Choose one of: {known}."
    ja = "「{unit}」という検索単位はありません。次から選んでください: {known}。"


class QueriesUnreadable(IndexStoreError):
    en = "The queries file {file} can't be read ({reason}). Check its name and its permissions."
    ja = "質問ファイル {file} を読み取れません({reason})。名前と権限を確認してください。"


class QueriesNotInUtf8(IndexStoreError):
    en = "The queries file {file} is not in UTF-8. Save it in UTF-8, then search again."
    ja = "質問ファイル {file} の文字コードが UTF-8 ではありません。UTF-8 で保存してから、もう一度検索してください。"


class BadQueries(IndexStoreError):
    en = "Line {line} of the queries file {file} can't be read. Each line must be an object with “id” and “question”."
    ja = "質問ファイル {file} の {line} 行目が読めません。各行は id と question を持つオブジェクトにしてください。"
