"""What can go wrong with people: who they are, and what they may do."""

from index_store.base.errors.plain import IndexStoreError


class SignInIncomplete(IndexStoreError):
    en = "The sign-in does not say who you are. Ask an admin of this app to check the sign-in provider or the proxy."
    ja = (
        "サインインの情報に、利用者を識別する ID がありません。"
        "このアプリの管理者に、サインインのプロバイダーまたはプロキシの設定を確認するよう伝えてください。"
    )


class AccessWithdrawn(IndexStoreError):
    en = "Your access to this app was withdrawn. Ask an admin to restore it."
    ja = "このアプリの利用は停止されています。再び利用するには、管理者に依頼してください。"


class UnknownPerson(IndexStoreError):
    en = "There is no person “{name}”. List the people to see who is known, or add this person first."
    ja = "「{name}」という利用者はいません。一覧で確認するか、先に追加してください。"


class AmbiguousPerson(IndexStoreError):
    en = "“{name}” matches several people. Use the id in the list of people."
    ja = "「{name}」に当てはまる利用者が複数います。利用者の一覧にある ID で指定してください。"


class PersonExists(IndexStoreError):
    en = "“{name}” has already been added. To change the role, change it for that person."
    ja = "「{name}」はすでに登録されています。役割を変える場合は、登録済みの利用者に対して変更してください。"


class LastAdmin(IndexStoreError):
    en = (
        "“{name}” is the last admin, and without an admin nobody could manage people. Make someone else an admin first."
    )
    ja = "「{name}」は最後の管理者です。利用者を管理できる人がいなくなるため、先に別の人を管理者にしてください。"


class NoPersonNamed(IndexStoreError):
    en = "Say who is added: the email address or the user id (sub) with which they will sign in."
    ja = "追加する利用者のメールアドレスかユーザー ID(sub)を、サインイン時のとおりに入力してください。"


class NobodyNamed(IndexStoreError):
    en = "Say who gets the right: an email address, a user id (sub), or a group."
    ja = "権限を与える相手(メールアドレス、ユーザー ID(sub)、またはグループ)を入力してください。"


class NoGroupNamed(IndexStoreError):
    en = "Say whose limits these are: the name of a group, exactly as at the sign-in."
    ja = "上限を設定するグループの名前を、サインイン時の名前のとおりに入力してください。"


class NotAllowed(IndexStoreError):
    """A right is missing, for an object that the person may know about."""


class RightMissing(NotAllowed):
    en = "You may not do this with the index “{index}”. Ask its owner or an admin of this app for the right."
    ja = "インデックス「{index}」に対するこの操作は許可されていません。所有者か、このアプリの管理者に依頼してください。"


class EditorNeeded(NotAllowed):
    en = "You may read and ask here, but you may not create indexes. Ask an admin of this app to make you an editor."
    ja = "質問と閲覧だけが許可されています。インデックスを作るには、編集者にしてもらうよう管理者に依頼してください。"


class AdminNeeded(NotAllowed):
    en = "Only admins of this app can do this. Ask one of them."
    ja = "これはこのアプリの管理者だけが行えます。管理者に依頼してください。"
