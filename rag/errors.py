"""What can go wrong while a question is answered, in words fit to be shown to a person.

index_store.errors.PlainError
├── index_store.errors.ServiceError   the chat service did not answer (shared with embeddings)
└── RagError
    ├── UnknownPipeline
    ├── BadHitCount               too few or too many passages asked for
    ├── ModelError
    │   ├── EmptyReply            the model answered with nothing
    │   ├── ModelTooSlow          a step that can do without did not wait longer
    │   └── NoJson                no grader of a step got an answer that it could read
    ├── RunTimeLimit
    ├── Interrupted               the app ended in the midst of the run
    └── Unexpected                a fault of ours; the log has the details
"""

from index_store.errors import PlainError


class RagError(PlainError):
    pass


class UnknownPipeline(RagError):
    en = "There is no pipeline named “{name}”. Choose one of: {known}."
    ja = "「{name}」というパイプラインはありません。次から選んでください: {known}。"


class BadHitCount(RagError):
    en = "Between {least} and {most} passages can be retrieved, not “{k}”. Give a whole number in between."
    ja = "検索する件数は {least}〜{most} の整数で指定してください(「{k}」は使えません)。"


class ModelError(RagError):
    pass


class EmptyReply(ModelError):
    en = "The model {model} answered with nothing. Ask again; if it goes on, choose another model in CHAT_MODEL."
    ja = "モデル {model} の回答が空でした。もう一度質問し、続く場合は CHAT_MODEL で別のモデルを指定してください。"


class ModelTooSlow(ModelError):
    en = "The model {model} did not answer within {seconds} seconds. The step went on without it."
    ja = "モデル {model} が {seconds} 秒以内に応答しなかったため、モデルを使わずに先へ進みました。"


class NoJson(ModelError):
    en = (
        "The model {model} does not return the JSON that grading needs. "
        "Choose the pipeline “naive”, which does without, or a model with structured output in CHAT_MODEL."
    )
    ja = (
        "モデル {model} が採点に必要な JSON を返しませんでした。"
        "採点を使わないパイプライン naive を選ぶか、構造化出力に対応したモデルを CHAT_MODEL で指定してください。"
    )


class RunTimeLimit(RagError):
    en = "The run was ended after {seconds:.0f} seconds. Ask a narrower question, or raise RUN_TIME_LIMIT."
    ja = "{seconds:.0f} 秒を超えたため実行を終了しました。質問を絞るか、RUN_TIME_LIMIT を大きくしてください。"


class Interrupted(RagError):
    en = "The app ended before this answer was finished. Ask again."
    ja = "回答の途中でアプリが終了しました。もう一度質問してください。"


class Unexpected(RagError):
    en = "Something went wrong inside the app ({kind}). Ask again; if it goes on, look at the log of the app."
    ja = "アプリの内部で問題が起きました({kind})。もう一度質問してください。続く場合はアプリのログを確認してください。"
