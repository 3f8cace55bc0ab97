"""What can go wrong with a service for chat or embeddings that speaks OpenAI's protocol."""

from index_store.base.errors.plain import IndexStoreError


class ServiceError(IndexStoreError):
    """The embedding or chat service did not answer correctly. Details: host, model."""


class KeyRefused(ServiceError):
    en = "{host} refused the key. Set OPENAI_API_KEY to a valid one that may use {model}."
    ja = "{host} がキーを拒否しました。{model} を使える有効なキーを OPENAI_API_KEY に設定してください。"


class ServiceBusy(ServiceError):
    en = "{host} is busy or limits the number of requests. Wait a minute, then try again."
    ja = "{host} が混み合っているか、回数の制限に達しました。1 分ほど待って、もう一度試してください。"


class QuotaUsedUp(ServiceError):
    en = "The quota of the account at {host} is used up. Check its plan and billing, or set another key."
    ja = "{host} のアカウントの利用枠を使い切りました。契約と支払いを確認するか、別のキーを設定してください。"


class ModelUnknown(ServiceError):
    en = "{host} does not know the model {model}, or the address is wrong. Check the model's name and OPENAI_BASE_URL."
    ja = "{host} にモデル {model} がないか、アドレスが違います。モデル名と OPENAI_BASE_URL を確認してください。"


class RequestRefused(ServiceError):
    en = "{host} refused the request to {model} with status {status}. Check that this model supports this use."
    ja = (
        "{host} が {model} への要求を拒否しました(ステータス {status})。"
        "このモデルがこの用途(チャットまたは埋め込み)に対応しているか確認してください。"
    )


class TextTooLong(RequestRefused):
    en = (
        "{host} refused a text because it is too long for the model {model}. Ask a shorter question; for documents, "
        "lower CHUNK_SIZE or choose another EMBEDDING_MODEL."
    )
    ja = (
        "テキストがモデル {model} には長すぎるため、{host} が拒否しました。質問なら短くしてください。"
        "文書なら CHUNK_SIZE を小さくするか、別の EMBEDDING_MODEL を選んでください。"
    )


class ServiceFailed(ServiceError):
    en = (
        "{host} failed with status {status}. Try again later. If it keeps failing, contact the operator of the service."
    )
    ja = (
        "{host} でエラー(ステータス {status})が起きました。"
        "後でもう一度試し、続くときはサービスの管理者に連絡してください。"
    )


class ServiceUnreachable(ServiceError):
    en = "{host} can't be reached. Check the network and OPENAI_BASE_URL, and that the server is running."
    ja = (
        "{host} に接続できません。ネットワークと OPENAI_BASE_URL が正しいか、サーバーが動いているかを確認してください。"
    )


class ServiceUntrusted(ServiceUnreachable):
    en = (
        "The certificate of {host} can't be verified. If your company issued it, the operator of the app can name a "
        "file with its CA in SSL_CERT_FILE. Otherwise ask the operator of the service to renew it."
    )
    ja = (
        "{host} の証明書が確認できません。社内の認証局の証明書なら、アプリの管理者が認証局の証明書を含むファイルを "
        "SSL_CERT_FILE に指定してください。それ以外は、サービスの管理者に更新を依頼してください。"
    )


class ServiceTimedOut(ServiceError):
    en = "{host} did not answer in time. Try again, or raise MODEL_TIMEOUT."
    ja = "{host} から時間内に応答がありません。もう一度試すか、MODEL_TIMEOUT を長くしてください。"


class AnswerUnreadable(ServiceError):
    en = (
        "{host} answered, but not in the OpenAI protocol. "
        "Check OPENAI_BASE_URL (it often ends in /v1) and the model {model}."
    )
    ja = (
        "{host} の応答が OpenAI 互換の形式ではありません。"
        "OPENAI_BASE_URL(多くは /v1 で終わります)とモデル {model} を確認してください。"
    )
