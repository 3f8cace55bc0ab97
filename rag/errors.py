"""The errors of answering a question, with sentences for people.

index_store.base.errors.PlainError
├── index_store.base.errors.ServiceError   the chat service did not answer (shared with embeddings)
└── RagError
    ├── UnknownPipeline
    ├── BadHitCount               too few or too many passages asked for
    ├── UnknownStyle, BadTemperature, UnknownConversation
    ├── UnknownRun                it was deleted
    ├── BadColumnCount, ModelNotOffered   in a comparison
    ├── NothingOfThisName         to share or export
    ├── NothingFinished           to export
    ├── UnknownShare              the link was revoked, or never existed
    │   └── SharerOut             the person who made it may not use the app any more
    ├── UnreadableExport          not an export of this app, or one of a newer version
    ├── NoChatModel               no model is set, and there is no embedded one
    ├── ModelError
    │   ├── EmptyReply            the model answered with nothing
    │   ├── ReplyCut              the same, or with nothing readable, because it reached its limit of tokens
    │   ├── ReplyBrokenOff        the connection closed before the reply ended
    │   ├── ReplyFiltered         the same, because a content filter stopped it
    │   ├── ReplyRefused          the same, because the model refused to answer
    │   ├── PromptTooLong         the server's context is smaller than MODEL_CONTEXT says
    │   ├── ModelTooSlow          a step that can continue without the model did not wait longer
    │   └── NoJson                no grader of a step got a reply that it could read
    ├── WebSearchError            the web could not be searched; the run continues without it
    │   ├── WebKeyRefused, WebLimitReached
    │   └── WebSearchFailed, WebUnreachable, WebSearchTooSlow, WebAnswerUnreadable
    ├── RunLimit                  the run has reached a limit; the text written so far is kept
    │   └── RunTimeLimit, RunCallLimit, RunTokenLimit, TokensUsedUp
    ├── ForkError                 a run can't be forked
    │   ├── RunNotOver, NoCheckpoint
    │   └── IndexGone, DocumentsGone, BadChange, NothingChanged
    ├── NotSaved                  a conversation can't be saved; the disk may be full
    ├── Interrupted               the app ended during the run
    └── Unexpected                a bug in the app; the log has the details
"""

from index_store.base.errors import (
    AnswerUnreadable,
    PlainError,
    RequestRefused,
    ServiceBusy,
    ServiceFailed,
    ServiceTimedOut,
    ServiceUnreachable,
)


class RagError(PlainError):
    pass


class UnknownPipeline(RagError):
    en = "There is no pipeline named “{name}”. Choose one of: {known}."
    ja = "「{name}」というパイプラインはありません。次から選んでください: {known}。"


class BadHitCount(RagError):
    en = "The number of passages must be from {least} to {most}, not “{k}”. Give a whole number in that range."
    ja = "検索する件数は {least}〜{most} の整数で指定してください(「{k}」は使えません)。"


class UnknownStyle(RagError):
    en = "“{name}” is not a style of answers. Choose one of: {known}."
    ja = "回答の書き方に「{name}」は指定できません。次から選んでください: {known}。"


class BadTemperature(RagError):
    en = "The temperature must be a number from 0 to 2, not “{given}”. Give one in that range."
    ja = "回答の温度は 0〜2 の数で指定してください(「{given}」は使えません)。"


class UnknownConversation(RagError):
    en = (
        "There is no conversation “{name}”. Ask without one to start a new conversation; its id is shown with the "
        "answer."
    )
    ja = "「{name}」という会話はありません。会話を指定せずに質問すると新しく始まり、ID が回答とともに表示されます。"


class BadColumnCount(RagError):
    en = "From {least} to {most} pipelines can be compared, not {count}. Change the number of columns."
    ja = "比較できるのは {least}〜{most} 列です({count} 列は比較できません)。列の数を選び直してください。"


class UnknownRun(RagError):
    en = "This answer no longer exists: its conversation was deleted. Ask the question again."
    ja = "この回答は会話とともに削除されています。もう一度質問してください。"


class ModelNotOffered(RagError):
    en = "The model “{name}” is not available here. Choose one of: {known}. COMPARE_MODELS can add others."
    ja = "モデル「{name}」は使えません。次から選んでください: {known}。ほかのモデルは COMPARE_MODELS で指定します。"


class NothingOfThisName(RagError):
    en = "There is no conversation or run “{name}”. It may have been deleted: reload the page, or check the id."
    ja = (
        "「{name}」という会話や実行はありません。削除された可能性があります。"
        "ページを再読み込みするか、ID を確認してください。"
    )


class NothingFinished(RagError):
    en = "“{name}” has no finished answer yet. Export it once one is finished."
    ja = "「{name}」には、完了した回答がまだありません。完了してから保存してください。"


class UnknownShare(RagError):
    en = "This link no longer works: it was revoked, or its conversation was deleted. Ask the sender for a new one."
    ja = "このリンクは使えません。取り消されたか、元の会話が削除されました。送った人に新しいリンクを依頼してください。"


class SharerOut(UnknownShare):
    en = (
        "This link no longer works: the person who made it may not use this app any more. Ask someone else to share "
        "it with you."
    )
    ja = (
        "このリンクは使えなくなりました。作った人は現在このアプリを利用できません。"
        "利用できる人に共有を依頼してください。"
    )


class UnreadableExport(RagError):
    en = (
        "This file was not exported by this app, or it was exported by a newer version. Choose a JSON file that was "
        "exported here."
    )
    ja = (
        "このアプリが書き出したファイルではないか、新しいバージョンのものです。"
        "ここで書き出した JSON ファイルを選んでください。"
    )


class NoChatModel(RagError):
    en = (
        "No chat model is set, and this installation has no embedded one. Set OPENAI_API_KEY, or set OPENAI_BASE_URL "
        "to a service that is compatible with OpenAI."
    )
    ja = (
        "チャットモデルが設定されておらず、このインストールには内蔵モデルもありません。OPENAI_API_KEY を設定するか、"
        "OPENAI_BASE_URL に OpenAI 互換サービスを指定してください。"
    )


class ModelError(RagError):
    pass


class EmptyReply(ModelError):
    en = "The reply of the model {model} was empty. Ask again. If it happens again, choose another model in CHAT_MODEL."
    ja = "モデル {model} の回答が空でした。もう一度質問し、続く場合は CHAT_MODEL で別のモデルを指定してください。"


class ReplyCut(ModelError):
    en = (
        "The model {model} reached its limit of tokens before its reply could be read; its reasoning counts too. "
        "Raise ANSWER_TOKENS (at most a quarter of MODEL_CONTEXT), or choose another model in CHAT_MODEL."
    )
    ja = (
        "モデル {model} の応答は、読み取れる内容になる前にトークン数の上限に達しました(思考の分も数えます)。"
        "ANSWER_TOKENS を大きくするか(MODEL_CONTEXT の 4 分の 1 まで)、CHAT_MODEL で別のモデルを指定してください。"
    )


class ReplyBrokenOff(ModelError):
    en = "The connection to {host} broke off while the answer was being written. Its end is missing. Ask again."
    ja = "回答の途中で {host} との接続が切れたため、終わりの部分がありません。もう一度質問してください。"


class ReplyFiltered(ModelError):
    en = (
        "A content filter of the service stopped the reply of the model {model}. Ask in other words. If it happens "
        "again, choose another model in CHAT_MODEL."
    )
    ja = (
        "サービスのコンテンツフィルターが、モデル {model} の応答を止めました。"
        "質問の言い方を変え、続く場合は CHAT_MODEL で別のモデルを指定してください。"
    )


class ReplyRefused(ModelError):
    en = (
        "The model {model} refused to answer. Ask in other words. If it happens again, choose another model in "
        "CHAT_MODEL."
    )
    ja = (
        "モデル {model} が回答を拒否しました。"
        "質問の言い方を変え、続く場合は CHAT_MODEL で別のモデルを指定してください。"
    )


class PromptTooLong(ModelError):
    en = (
        "{host} refused the prompt because it is too long for the model {model}. Lower MODEL_CONTEXT to the size of "
        "the context, in tokens, with which the server was started, or to what your account may send in a minute."
    )
    ja = (
        "プロンプトがモデル {model} には長すぎるため、{host} が拒否しました。"
        "MODEL_CONTEXT を、サーバーの起動時に指定したコンテキストの大きさ(トークン数)か、"
        "契約で 1 分間に送れるトークン数まで下げてください。"
    )


class ModelTooSlow(ModelError):
    en = "The model {model} did not answer within {seconds} seconds. The step continued without it."
    ja = "モデル {model} が {seconds} 秒以内に応答しなかったため、モデルを使わずに先へ進みました。"


class NoJson(ModelError):
    en = (
        "The model {model} does not return the JSON that grading needs. Choose the pipeline “naive”, which does not "
        "grade, or a model with structured output in CHAT_MODEL."
    )
    ja = (
        "モデル {model} が採点に必要な JSON を返しませんでした。"
        "採点を使わないパイプライン「Naive(基本)」(naive)を選ぶか、"
        "構造化出力に対応したモデルを CHAT_MODEL で指定してください。"
    )


class WebSearchError(RagError):
    pass


class WebKeyRefused(WebSearchError):
    en = "{service} refuses the key in TAVILY_API_KEY. Correct it, or set WEB_SEARCH=off to work without the web."
    ja = (
        "{service} が TAVILY_API_KEY のキーを拒否しました。"
        "正しいキーを設定するか、Web を使わないなら WEB_SEARCH=off にしてください。"
    )


class WebLimitReached(WebSearchError):
    en = "{service} has reached its limit of requests or credits. Wait, or check the plan of the key."
    ja = "{service} の回数またはクレジットの上限に達しました。しばらく待つか、キーのプランを確認してください。"


class WebSearchFailed(WebSearchError):
    en = "{service} could not search (status {status}). Ask again later; this answer was made without the web."
    ja = "{service} が検索に失敗しました(ステータス {status})。Web を使わずに続けました。後でもう一度試してください。"


class WebUnreachable(WebSearchError):
    en = "{service} can't be reached from here. Check the network, or set WEB_SEARCH=off to work without the web."
    ja = "{service} に接続できません。ネットワークを確認するか、Web を使わないなら WEB_SEARCH=off にしてください。"


class WebSearchTooSlow(WebSearchError):
    en = "{service} did not answer within {seconds:g} seconds. The run continued without the web."
    ja = "{service} が {seconds:g} 秒以内に応答しなかったため、Web を使わずに続けました。"


class WebAnswerUnreadable(WebSearchError):
    en = "The reply of {service} is not a list of results. Check TAVILY_BASE_URL. The run continued without the web."
    ja = "{service} の応答を検索結果として読めません。TAVILY_BASE_URL を確認してください。Web を使わずに続けました。"


class RunLimit(RagError):
    pass


class RunTimeLimit(RunLimit):
    en = "The run was stopped after {seconds:.0f} seconds. Ask a narrower question, or raise RUN_TIME_LIMIT."
    ja = "{seconds:.0f} 秒を超えたため実行を終了しました。質問を絞るか、RUN_TIME_LIMIT を大きくしてください。"


class RunCallLimit(RunLimit):
    en = "The run was stopped after {calls} model calls. Ask a narrower question, or raise RUN_CALL_LIMIT."
    ja = "モデルの呼び出しが {calls} 回に達したため終了しました。質問を絞るか、RUN_CALL_LIMIT を大きくしてください。"


class RunTokenLimit(RunLimit):
    en = "The run was stopped after {tokens:,} tokens. Ask a narrower question, or raise RUN_TOKEN_LIMIT."
    ja = "{tokens:,} トークンに達したため実行を終了しました。質問を絞るか、RUN_TOKEN_LIMIT を大きくしてください。"


class TokensUsedUp(RunLimit):
    en = "You have used up your tokens for today ({tokens:,}). Ask again tomorrow, or ask an admin for more."
    ja = (
        "1 日に使えるトークン数({tokens:,})に達しました。"
        "明日もう一度質問するか、このアプリの管理者に上限の変更を依頼してください。"
    )


class ForkError(RagError):
    pass


class RunNotOver(ForkError):
    en = "You can change a step only when the answer is finished. Wait for it, or ask again if it was stopped."
    ja = (
        "ステップを変えられるのは、終わりまで進んだ回答だけです。"
        "終わるのを待つか、停止したときはもう一度質問してください。"
    )


class NoCheckpoint(ForkError):
    en = (
        "This step can't be changed, because the state before it is not stored: the answer is old, from an earlier "
        "version, or has read a document that was removed. Ask the question again, then change the new answer."
    )
    ja = (
        "このステップは変えられません。直前の状態が残っていないためです(古い回答である、以前のバージョンで作られた、"
        "または読んだ文書が削除された)。もう一度質問し、新しい回答で変えてください。"
    )


class IndexGone(ForkError):
    en = "The index “{index}” of this answer no longer exists. Ask the question again with another index."
    ja = "この回答の元になったインデックス「{index}」はもうありません。別のインデックスで質問し直してください。"


class DocumentsGone(ForkError):
    en = "The answer can't continue from here, because documents that it read were removed: {names}. Ask again."
    ja = "この回答が読んだ文書が削除されたため、ここから続けられません: {names}。もう一度質問してください。"


class BadChange(ForkError):
    en = (
        "These changes do not fit this step or each other. Change either the search or what it found, and choose "
        "from what the page shows."
    )
    ja = (
        "この変更はステップに合わないか、両立しません。"
        "検索の条件か見つかった箇所の一方を、画面にある中から変えてください。"
    )


class NothingChanged(ForkError):
    en = "Nothing was changed. Change something of this step, then run on."
    ja = "何も変わっていません。このステップのどこかを変えてから続けてください。"


class NotSaved(RagError):
    en = "The conversation could not be saved; the disk may be full. Make room in the data folder, then try again."
    ja = (
        "会話を保存できませんでした。ディスクの空きが足りないかもしれません。"
        "データフォルダーの空きを増やしてから、もう一度試してください。"
    )


class Interrupted(RagError):
    en = "The app ended before this answer was finished. Ask again."
    ja = "回答の途中でアプリが終了しました。もう一度質問してください。"


class Unexpected(RagError):
    en = "Something went wrong in the app ({kind}). Ask again. If it happens again, see the log of the app."
    ja = "アプリの内部で問題が起きました({kind})。もう一度質問してください。続く場合はアプリのログを確認してください。"


PASSING = (
    ServiceBusy, ServiceFailed, ServiceTimedOut, ServiceUnreachable, AnswerUnreadable, RequestRefused, ModelError,
)  # fmt: skip
"""errors of one call to the model, after which a step with a fallback can continue. Other errors, such as a refused
key, would happen in the next step again"""
