"""The errors of a site or one of its pages, with sentences for people.

DocumentError
├── BadAddress, AddressWithPassword, BadPattern, BadCrawlOption      what was asked for can't be crawled
├── AddressInside, PortRefused                                       the address guard says no
├── HostUnknown, SiteUnreachable, SiteUntrusted, SiteBusy,
│   SiteUnavailable, SiteGivenUp                                     the site as a whole
├── RobotsForbids, RobotsUnavailable                                 robots.txt says no, or can't be read
├── PageMissing, PageFailed, PageTimedOut, PageBroken, PagePacked,
│   PageTooLarge, PageOfOtherKind, RedirectsEndless, BadRedirect,
│   NothingToCrawl, KnownPagesKept                                   one page
└── PageRefused
    ├── PageBehindSignIn
    └── PageFormatUnsupported
"""

from index_store.base.errors import DocumentError


class BadAddress(DocumentError):
    # The address is not quoted: it may hold a password.
    en = "This is not the address of a web site. Give one that begins with https:// or http://."
    ja = "Web サイトのアドレスではありません。https:// か http:// で始まるアドレスを指定してください。"


class AddressWithPassword(DocumentError):
    en = "Give the address without its user name and password: such an address can't be fetched."
    ja = "ユーザー名やパスワードを含むアドレスからは取り込めません。それらを除いたアドレスを指定してください。"


class BadPattern(DocumentError):
    en = (
        "The pattern “{pattern}” can't match a path. Start it with / or *, such as /docs/* or *.pdf, and use no spaces."
    )
    ja = (
        "パターン「{pattern}」はどのパスにも一致しません。/docs/* や *.pdf のように、/ か * で始め、"
        "空白を入れずに書いてください。"
    )


class BadCrawlOption(DocumentError):
    en = "The {option} of a site must be a whole number from {least} to {most}. Correct it."
    ja = "サイトの {option} は {least}〜{most} の整数で指定してください。"


class AddressInside(DocumentError):
    en = (
        "{host} is an address inside the network, which the app may not fetch from. To allow it, the operator of the "
        "app can add it to CRAWL_ALLOWED."
    )
    ja = (
        "{host} はネットワーク内部のアドレスなので、取り込めません。"
        "許可するには、アプリの管理者が CRAWL_ALLOWED に指定してください。"
    )


class PortRefused(DocumentError):
    en = (
        "Port {port} of {host} belongs to another service than the web. Correct the address. If it is right, the "
        "operator of the app can add {host}:{port} to CRAWL_ALLOWED."
    )
    ja = (
        "{host} のポート {port} は Web 以外のサービスのものです。アドレスを直してください。正しい場合は、"
        "アプリの管理者が CRAWL_ALLOWED に {host}:{port} を指定してください。"
    )


class HostUnknown(DocumentError):
    en = "There is no site named {host}. Check the address and the network."
    ja = "{host} というサイトが見つかりません。アドレスと、ネットワークを確認してください。"


class SiteUnreachable(DocumentError):
    en = "{host} can't be reached. Check the address, and that the site is running, then try again."
    ja = "{host} に接続できません。アドレスと、サイトが動いているかを確認して、もう一度試してください。"


class SiteUntrusted(DocumentError):
    en = (
        "The certificate of {host} can't be verified. If your company issued it, the operator of the app can name a "
        "file with its CA in SSL_CERT_FILE. Otherwise ask the operator of the site to renew it."
    )
    ja = (
        "{host} の証明書が確認できません。社内の認証局の証明書なら、アプリの管理者が認証局の証明書を含むファイルを "
        "SSL_CERT_FILE に指定してください。それ以外は、サイトの管理者に更新を依頼してください。"
    )


class SiteBusy(DocumentError):
    en = "{host} limits the number of requests. Try again later, or lower CRAWL_RATE."
    ja = "{host} がアクセスの頻度を制限しています。後でもう一度試すか、CRAWL_RATE を小さくしてください。"


class SiteUnavailable(DocumentError):
    en = "{host} is not available at the moment. Try again later."
    ja = "{host} は一時的に利用できません。後でもう一度試してください。"


class SiteGivenUp(DocumentError):
    en = "{host} stopped answering, so not all pages were fetched. Fetch the site again later."
    ja = (
        "{host} が応答しなくなったため、途中で取り込みを終えました。"
        "取得していないページがあります。後でサイトを再取得してください。"
    )


class RobotsForbids(DocumentError):
    en = "The site's robots.txt does not allow fetching {url}. Ask the operator of the site, or give another page."
    ja = (
        "サイトの robots.txt が {url} の取得を許可していません。"
        "サイトの管理者に相談するか、別のページを指定してください。"
    )


class RobotsUnavailable(DocumentError):
    en = "The robots.txt of {host} can't be read, so the app does not know what it may fetch. Try again later."
    ja = "{host} の robots.txt を読めず、ページを取得してよいか分かりません。後でもう一度試してください。"


class PageMissing(DocumentError):
    en = "There is no page at {url}. Check the address."
    ja = "{url} にページがありません。アドレスを確認してください。"


class PageRefused(DocumentError):
    en = "The site refuses {url} (status {status}). It may need a sign-in. Save the page and add it as a file."
    ja = (
        "サイトが {url} を拒否しました(ステータス {status})。"
        "サインインが必要なら、ページを保存してファイルとして追加してください。"
    )


class PageBehindSignIn(PageRefused):
    en = "{url} leads to a sign-in. Save the page and add it as a file."
    ja = "{url} を開くにはサインインが必要です。ページを保存してファイルとして追加してください。"


class PageFormatUnsupported(PageRefused):
    en = (
        "{url} is in a format that can't be read ({suffix}). Save it as PDF, .docx, .xlsx or .pptx, then add that file."
    )
    ja = (
        "{url} は読み込めない形式({suffix})です。"
        "PDF か .docx、.xlsx、.pptx で保存し直して、そのファイルを追加してください。"
    )


class PageFailed(DocumentError):
    en = "The site failed to deliver {url} (status {status}). Try again later."
    ja = "サイト側のエラーで {url} を取得できませんでした(ステータス {status})。後でもう一度試してください。"


class PageTimedOut(DocumentError):
    en = "{url} did not load within {seconds:g} seconds. Try again later, or raise CRAWL_TIMEOUT."
    ja = "{url} を {seconds:g} 秒以内に取得できませんでした。後でもう一度試すか、CRAWL_TIMEOUT を大きくしてください。"


class PageBroken(DocumentError):
    en = "{url} arrived damaged or incomplete. Try again later. If it keeps failing, contact the operator of the site."
    ja = (
        "{url} の内容が壊れているか、途中で切れています。後でもう一度試し、続くときはサイトの管理者に連絡してください。"
    )


class PagePacked(DocumentError):
    en = (
        "The site sends {url} in a compression that the app did not ask for ({encoding}). Save the page and add it as "
        "a file, or ask the operator of the site to send it uncompressed or as gzip."
    )
    ja = (
        "サイトが {url} を、要求していない圧縮形式({encoding})で送ってきます。"
        "ページを保存してファイルとして追加するか、圧縮なしか gzip で送るよう、サイトの管理者に依頼してください。"
    )


class PageTooLarge(DocumentError):
    en = "{url} is larger than {limit:g} MB. Exclude it, or raise MAX_FILE_MB."
    ja = "{url} は {limit:g} MB を超えています。除外するか、MAX_FILE_MB を大きくしてください。"


class PageOfOtherKind(DocumentError):
    en = "{url} is of a kind that can't be loaded ({kind}). Give a page, or one of: {known}."
    ja = "{url} の形式({kind})は読み込めません。ページか、次のどれかを指定してください: {known}。"


class RedirectsEndless(DocumentError):
    en = "{url} redirects without end. Contact the operator of the site, or give another page."
    ja = (
        "{url} で転送(リダイレクト)が繰り返され、ページにたどり着けません。"
        "サイトの管理者に連絡するか、別のページを指定してください。"
    )


class BadRedirect(DocumentError):
    en = "{url} redirects to an address that can't be fetched. Give the address of the page itself."
    ja = "{url} は、取り込めないアドレスに転送されます。ページそのもののアドレスを指定してください。"


class NothingToCrawl(DocumentError):
    en = "No page was found from {url} that may be indexed and matches the patterns. Change the patterns or the page."
    ja = (
        "{url} からたどれる範囲に、インデックスへの登録が許可され、パターンに合うページがありません。"
        "パターンかページを変えてください。"
    )


class KnownPagesKept(DocumentError):
    en = (
        "{url} leads to none of the pages that were fetched before; it may be under maintenance or need a sign-in. So "
        "pages that still answer were kept. If the site has really changed, remove the ones that you no longer need."
    )
    ja = (
        "{url} から、以前取り込んだページへのリンクが見つかりません。"
        "メンテナンス中か、サインインが必要な可能性があるため、まだ表示できるページは残しました。"
        "サイトが本当に変わった場合は、不要なページを削除してください。"
    )
