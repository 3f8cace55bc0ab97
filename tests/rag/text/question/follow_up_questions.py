"""Questions as people ask them: standalone questions, and questions that depend on the conversation."""

STANDING_JA = """\
すみません、有給休暇の申請期限はいつですか
出張の日当はいくらですか?
国内出張の日当は1日いくらですか？
グリーン車の利用には誰の承認が必要ですか
有給休暇は何日ありますか
VPNに接続するソフトの名前は何ですか？
経費精算の締め日はいつですか
祖父母が亡くなったときの忌引休暇は何日ですか？
社員食堂の日替わり定食はいくらですか？
在宅勤務の申請はどこから行いますか
給湯室の冷蔵庫はいつ掃除しますか
パスワードの最低文字数は何文字ですか
会社のパソコンを紛失したときの連絡先を教えてください
契約社員の育児休業の取得条件を教えてください
海外出張の航空券は誰が予約しますか
健康診断の費用は会社が負担しますか
入社時に提出する書類は何ですか
フレックスタイムのコアタイムは何時から何時までですか
Xバタンの既定値は何mmですか？
名刺を注文する方法を教えてください
社用車を私用で使うことはできますか
退職するときの貸与品の返却期限はいつですか
住宅手当の支給対象になる社員は誰ですか
会議室の予約システムの名前は何ですか
慶弔見舞金の金額はいくらですか
通勤手当の上限額はいくらですか
副業を始めるときに会社の許可は必要ですか
台風で電車が止まったときの出社の扱いを教えてください
新人研修は何日間行われますか
タイムカードの打刻を忘れたらどうすればよいですか
情報セキュリティの研修は年に何回ありますか
取引先との会食の上限金額はいくらですか
ハラスメントの相談窓口の電話番号を教えてください
子の看護休暇は半日単位で取れますか
育児休業はいつまで延長できますか
出張旅費規程の第5条には何が書かれていますか
オフィスの鍵を無くした社員は総務部に何を提出しますか
プリンターの紙詰まりを直す手順を教えてください
各部署のそれぞれの予算枠はどの資料で確認できますか
深夜残業の割増賃金は何パーセントですか
社内ポータルのURLを教えてください
育児休業は契約社員も対象ですか？
VPNはスマートフォンでも使えますか？
自家用車で出張してもよいですか？
もしパスワードを忘れたらどうすればよいですか
契約社員の育児休業の取得条件を箇条書きで教えてください
就業規則の第5条を要約してください
経費精算システムの手順3で入力する項目は何ですか
育児休業に該当する社員は誰ですか
前年度の有給休暇の内容はどの画面で確認できますか
"""

LEANING_JA = """\
いいえ、国内出張の宿泊費です
違います。海外出張の日当を聞いています
すみません、海外出張の日当でした
海外出張の日当のことです
国内じゃなくて海外出張の日当
訂正: 海外出張の日当
契約社員は対象外ですか
上司の許可は要りますか
繰り越せますか？
翌年に繰り越せますか？
来年も使えますか
それはいつまで?
それはいつまでですか
それは誰が決めますか?
その上限はいくらですか
その場合の申請期限はいつですか
これはパート社員にも適用されますか
この手当は課税されますか
そこに電話番号はありますか
そちらの営業時間は何時までですか
そのソフトはどこからインストールしますか
パートの場合は?
契約社員も?
海外出張なら?
じゃあ、部長の場合はどうなりますか
では、宿泊費の上限はいくらですか
理由は何ですか?
なぜですか
どうしてそうなるのですか
いつまで?
いつから始まりますか
誰に連絡すればいいですか
期限はいつですか
申請の期限はいつですか
提出先はどこ?
もっと詳しく教えてください
続きを教えてください
他に条件はありますか
ほかには?
上記以外の書類は必要ですか
同じことが派遣社員にも当てはまりますか
前者の金額はいくらですか
先ほどの規程は何条ですか
さっきの話の例外を教えて
また、食事代は支給されますか
ちなみに、半休は取れますか
逆に、早く帰る場合の手当は?
具体例を教えてください
英語で説明してください
日帰りだと?
東京オフィスは?
2つ目の条件を詳しく説明してください
1つ目の支給要件について詳しく
三点目の添付書類の様式名は何ですか
子どもが2人いたら?
彼の連絡先を教えてください
契約社員も対象ですか？
アルバイトやパートでも使えますか？
土日祝日も含みますか？
子供や配偶者の分も申請できますか？
海外出張中でも大丈夫ですか？
時間単位で取得できますか？
部長級の役職者ならいくら？
無断欠勤扱いになりますか？
日本語で答えて
英語に翻訳して
三行で要約してください
3行で簡潔に答えて
丁寧な言葉で言い換えて
具体例を挙げて
根拠を示して
根拠となる条文を教えてください
第5条を説明して
３番を詳しく教えてください
ステップ2でエラーが出ました
手順3で使うソフトの名前は何ですか
表の3行目は何ですか
最後の項目について教えて
最初の条件をもう少し
B案のメリットを教えて
メール文にしてください
先程の回答について、根拠条文を教えてください
前の質問の続きですが、海外は含まれますか
前回の回答の根拠条文を教えてください
一つ前の質問の回答を英語にしてください
先の回答では10日とありましたが、12日ではないですか
あなたの回答は就業規則の何条に基づいていますか
これまでの内容をメール文案にしてください
当該規程の施行日はいつですか
該当箇所を引用してください
原文を表示してください
米ドルに換算すると?
"""

STANDING_EN = """\
What is the daily allowance for domestic business trips?
How many days of paid annual leave do staff have?
What is the VPN client called?
Who approves the green car?
How many characters must a company password have at least?
How soon must I call after losing my company laptop?
When is the refrigerator in the kitchen cleaned?
Is a doctor's note needed for sick leave?
Where do I install HazeGate from?
Which hotel rates are covered on trips to Osaka?
Can contract staff take parental leave?
What does the handbook say about remote work?
How do I reset my Wi-Fi password?
Who is the head of the finance department?
Are there lockers in the Tokyo office?
Is there a dress code for customer visits?
What is the notice period for resigning employees?
How long is the probation period for new hires?
Which expenses need a receipt from the restaurant?
What are the core hours of the flextime system?
Does the company pay for English lessons?
How do I book a meeting room in the Nagoya branch?
What is the bonus formula for sales staff?
Can I bring my dog to the office?
When are salaries transferred to bank accounts?
What should be done when the fire alarm rings?
Who maintains the coffee machine on the third floor?
How is overtime on public holidays compensated?
What is the maximum reimbursement for taxi rides at night?
Is remote work from abroad permitted for interns?
Which browser does the intranet support?
What is the warranty of the SM-300 sensor?
How do I order business cards with a new title?
How long does it take to get a corporate credit card?
Is it possible to carry over unused vacation days?
What software that connects to the VPN is supported on Linux?
Where can visitors park their cars near the warehouse?
Describe the evacuation route of the Yokohama plant.
Tell me the phone number of the harassment hotline.
What training must forklift drivers complete this year?
Who do IT staff report phishing mails to?
Summarize the travel expense policy
List the requirements for parental leave in bullet points
What's the daily allowance for domestic business trips?
Can't interns take parental leave?
"""

LEANING_EN = """\
Likewise for interns?
Great, and hotels?
Got it. And for trains?
Hmm, what about meals?
Gross or net?
Only full-time employees?
Is the rule different for interns?
Including VAT?
Apart from hotels?
Except for interns?
Assuming I work part-time?
Let's say I work part-time
I was asking about interns
My question was about interns
Try again with Germany
As a part-time employee?
Via the portal?
Up to 5 days?
Are copies accepted?
Is a photo enough?
Yes, the allowance for trips abroad
Can contractors do so remotely?
Can I apply online?
And for part-time staff?
Until when is it valid?
How long does it last?
Who approves that?
What about contract staff?
How about trips abroad?
Is this also true for interns?
Where can I find them?
Do they need a receipt as well?
Why?
Why not?
When does it end?
What is the deadline?
How much is it?
And the hotel?
But what if the train is late?
So who pays the taxi?
Can I get one too?
What is its address?
Who is responsible for this?
Is there any exception to that rule?
What happens then?
And on weekends?
Does the same apply to managers?
Tell me more.
Go on
What are the conditions?
How do I apply?
Which one is cheaper?
Is the former still allowed?
What does the latter cost?
Who should I contact?
Can he approve his own trips?
What did she say about lunch?
Are there others?
What else do I need for the visa?
Or by car?
Otherwise, who decides about the budget?
Where is the form?
Could you explain the previous answer?
Both of the offices?
What is it for?
For how many days?
Are weekends included?
Is weekend work included?
Are public holidays covered?
Please answer in English
Reply in Japanese please
Summarize in three bullet points
Rephrase politely for customers
Translate into Japanese
Which article says so?
Does it cover accidental damage?
Can I extend it beyond five years?
Is it open on Sundays?
How do I renew it online?
Does it expire after retirement?
Can it be combined with the housing subsidy?
Does that work for contractors in Osaka?
Does that have a separate approval workflow?
Will that need a signature from finance?
Could that work for interns in Osaka?
Tell me about article 5.
What does section 4 say?
Elaborate on point 2
Give me the advantages of option B.
Tell me more about the second point
No, I mean domestic trips.
I meant the Osaka office
Sorry, the 2024 version
Actually, for domestic travel
Not managers, part-time staff
With a doctor's note?
Even on public holidays?
What's the penalty?
What’s the approval route?
Who's the approver?
Where's the template?
Isn't a receipt required?
Don't I need a receipt?
Can't I carry over?
I don't understand
Is your answer based on the 2024 handbook?
You said 10 days, but the handbook says 12
According to the answer, part-timers get 10 days, right?
"""


def lines(text: str) -> list[str]:
    return text.splitlines()
