"""Answers as mail programs in many languages make them, from tables, so that no sample can have been written to."""

from __future__ import annotations

import html
from collections.abc import Iterator
from textwrap import wrap

import pytest

from server.inbound import markup
from server.inbound.lines import MARKER, own_lines

ADDRESS = "move+k7f3q9w2aaaabbbbccccdddd@play.example.org"
OWN = ["A5-B1", "say On Sunday I wrote:"]
MARKER_LAST = f"Clans 17, move 12: your turn, Alice.\nA1 1 red   A2 1 blue\nfor example:\nD1-D2\n{MARKER}"
MARKER_FIRST = f"{MARKER}\n\nClans 17: it is your turn, Alice.\n\nFor example:\n\n    D1-D2\n\n-- \nClachan, the house"
ORIGINALS = {"last": MARKER_LAST, "first": MARKER_FIRST}

WHO = {
    "full": f"Clachan <{ADDRESS}>",
    "quotes": f'"Clachan" <{ADDRESS}>',
    "brackets": f"Clachan (<{ADDRESS}>)",
    "name": "Clachan",
    "bare": ADDRESS,
    "dotted": f"Clachan <{ADDRESS.replace('+', '.')}>",
    "from": "Clachan <t@play.example.org>",
    "renamed": f"My games <{ADDRESS}>",
}
HEADINGS = {
    "ar": "في الثلاثاء، ٣ نوفمبر ٢٠٢٦ في ١٠:١١ ص، {} كتب:",
    "bg": "На вт, 3.11.2026 г. в 10:11 ч. {} написа:",
    "ca": "El dt., 3 de nov. 2026 a les 10:11, {} va escriure:",
    "cy": "Ar Maw, 3 Tach 2026 am 10:11 ysgrifennodd {}:",
    "eo": "Je 2026-11-03 10:11, {} skribis:",
    "es": "El mar, 3 nov 2026 a las 10:11, {} escribió:",
    "et": "Kuupäev T, 3. november 2026 kell 10:11 kirjutas {}:",
    "eu": "{} erabiltzaileak hau idatzi zuen (2026 aza. 3, ar. (10:11)):",
    "fa": "در سه‌شنبه ۱۲ آبان ۱۴۰۵، ۱۰:۱۱ {} نوشت:",
    "ga": "Ar Mháirt 3 Samh 2026 ag 10:11, scríobh {}:",
    "gl": "O mar, 3 nov 2026 ás 10:11, {} escribiu:",
    "he": "\u202bבתאריך יום ג׳, 3 בנוב׳ 2026 ב-10:11 מאת \u202a{}\u202c\u200f:\u202c",
    "hi": "मंगल, 3 नव॰ 2026 को 10:11 am बजे {} ने लिखा:",
    "hr": "uto, 3. stu 2026. u 10:11 {} napisao je:",
    "hy": "Երք, նոյ 3, 2026 ժամը 10:11-ին {}-ը գրել է․:",
    "id": "Pada tanggal Sel, 3 Nov 2026 pukul 10.11 {} menulis:",
    "is": "Þann þri., 3. nóv. 2026 kl. 10:11 skrifaði {}:",
    "ja": "2026/11/03 10:11、{}のメール：",
    "ka": "სამ, 3 ნოე. 2026, 10:11, {}-მა დაწერა:",
    "ko": "2026. 11. 3. 오전 10:11, {} 작성:",
    "la": "{} scripsit die 3 Nov. 2026, 10:11:",
    "lt": "2026-11-03, an, 10:11 {} rašė:",
    "lv": "otrd., 2026. g. 3. nov., plkst. 10:11 — lietotājs {} rakstīja:",
    "no": "tir. 3. nov. 2026 kl. 10:11 skrev {}:",
    "pl": "wt., 3 lis 2026 o 10:11 {} napisał(a):",
    "pt": "{} escreveu (terça, 3/11/2026 à(s) 10:11):",
    "ro": "În mar., 3 nov. 2026 la 10:11, {} a scris:",
    "ru": "вт, 3 нояб. 2026 г. в 10:11, {}:",
    "sk": "ut 3. 11. 2026 o 10:11 {} napísal(a):",
    "sl": "V V tor., 3. nov. 2026 ob 10:11 je oseba {} napisala:",
    "sr": "уто, 3. нов 2026. у 10:11 {} је написао/ла:",
    "sv": "Den tis 3 nov. 2026 kl 10:11 skrev {}:",
    "sw": "Mnamo Jumanne, 3 Novemba 2026 saa 4:11, {} aliandika:",
    "th": "ในวันที่ อ. 3 พ.ย. 2026 เวลา 10:11 {} เขียนว่า:",
    "tr": "{}, 3 Kas 2026 Sal, 10:11 tarihinde şunu yazdı:",
    "vi": "Vào Th 3, 3 thg 11, 2026 vào lúc 10:11 {} đã viết:",
    "zh": "{} 于2026年11月3日周二 10:11写道：",
    "mutt": "On Tue, Nov 03, 2026 at 10:11:12AM +0100, {} wrote:",
    "netease": "At 2026-11-03 10:11:12, {} wrote:",
    "proton": "On Tuesday, November 3rd, 2026 at 10:11, {} wrote:",
    "yandex": "03.11.2026, 10:11, {}:",
    "the bat": "3 ноября 2026 г., 10:11:12, {} написал:",
}
HEADERS = {
    "ar": ("من", "تم الإرسال", "إلى", "الموضوع"),
    "el": ("Από", "Στάλθηκε", "Προς", "Θέμα"),
    "es": ("De", "Enviado el", "Para", "Asunto"),
    "fi": ("Lähettäjä", "Lähetetty", "Vastaanottaja", "Aihe"),
    "fr": ("De ", "Envoyé ", "À ", "Objet "),
    "he": ("מאת", "נשלח", "אל", "נושא"),
    "hu": ("Feladó", "Elküldve", "Címzett", "Tárgy"),
    "ja": ("差出人", "送信日時", "宛先", "件名"),
    "ko": ("보낸 사람", "보낸 날짜", "받는 사람", "제목"),
    "pl": ("Od", "Wysłano", "Do", "Temat"),
    "ro": ("De la", "Trimis", "Către", "Subiect"),
    "ru": ("От", "Отправлено", "Кому", "Тема"),
    "sk": ("Od", "Odoslané", "Komu", "Predmet"),
    "sv": ("Från", "Skickat", "Till", "Ämne"),
    "th": ("จาก", "ส่งเมื่อ", "ถึง", "เรื่อง"),
    "tr": ("Gönderen", "Gönderildi", "Kime", "Konu"),
    "zh": ("发件人", "发送时间", "收件人", "主题"),
}
TITLES = (
    "",
    "________________________________\n",
    "-----Mensaje original-----\n",
    "---------- Пересылаемое сообщение ---------\n",
    "------------------ 原始邮件 ------------------\n",
)


def marked(text: str, mark: str = "> ") -> str:
    """Return the text with a mark of quotation before each line."""
    return "\n".join(f"{mark}{line}".rstrip() for line in text.split("\n"))


def broken(text: str, width: int) -> str:
    """Return the text in lines of that width, as programs break them: between words only."""
    return "\n".join(wrap(text, width, break_long_words=False, break_on_hyphens=False))


def page(heading: str, original: str) -> str:
    """Return an answer in HTML, turned to text."""
    own, above, below = (html.escape(text).replace("\n", "<br>") for text in ("\n".join(OWN), heading, original))
    return markup.text(
        f'<div dir="ltr">{own}</div><br><div class="gmail_quote"><div class="gmail_attr">{above}<br></div>'
        f'<blockquote class="gmail_quote" style="margin:0"><div>{below}</div></blockquote></div>'
    )


def answers(heading: str, original: str) -> Iterator[tuple[str, str]]:
    """Yield the ways in which programs put an answer, a heading and the original together, each with its name."""
    own = "\n".join(OWN)
    for mark in ("> ", ">", "| ", "C> "):
        yield f"marked with {mark}", f"{own}\n\n{heading}\n\n{marked(original, mark)}"
    for width in (60, 72, 76):
        yield f"broken at {width}", f"{own}\n\n{broken(heading, width)}\n\n{marked(original)}"
        yield f"broken at {width}, not marked", f"{own}\n\n{broken(heading, width)}\n\n{original}"
    for bracket in ("<\nmove", "\n<move"):
        yield "broken at the address", f"{own}\n\n{heading.replace('<move', bracket)}\n\n{marked(original)}"
    yield "without empty lines", f"{own}\n{heading}\n{marked(original)}"
    yield "not marked", f"{own}\n\n{heading}\n\n{original}"
    yield "heading marked too", f"{own}\n\n{marked(heading)}\n>\n{marked(original)}"
    yield "below", f"{heading}\n{marked(original)}\n\n{own}"
    first, _, rest = marked(original).partition("\n")
    yield "within", f"{heading}\n{first}\n{own}\n{rest}"
    yield "between heading and quotation", f"{heading}\n\n{own}\n\n{marked(original)}"
    yield "above the marker in the quotation", f"{heading}\n{marked(own)}\n{marked(MARKER_FIRST)}"
    yield "HTML", page(heading, original)


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("language", HEADINGS)
def test_a_heading_in_any_language_is_no_line_of_the_player(language: str, who: str) -> None:
    for original in ORIGINALS.values():
        for kind, text in answers(HEADINGS[language].format(WHO[who]), original):
            # An address of 47 characters fills a line alone, and what is left before it may be too short to tell.
            if not (who == "bare" and "broken" in kind):
                assert own_lines(text) == OWN, kind


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("language", HEADERS)
def test_headers_in_any_language_are_no_lines_of_the_player(language: str, who: str) -> None:
    values = (WHO[who], "3.11.2026 10:11", "Alice <alice@example.com>", "Clans 17")
    for form in ("{}: {}", "*{}:* {}", "{}：{}"):
        block = "\n".join(form.format(*pair) for pair in zip(HEADERS[language], values, strict=True))
        for original in ORIGINALS.values():
            for title in TITLES:
                above = "\n".join([*OWN, "", f"{title}{block}"])
                for below in (f"\n\n{original}", f"\n{original}", f"\n\n{marked(original)}"):
                    assert own_lines(above + below) == OWN, (form, title)


PAGES = {
    "Gmail, below": "<div class=gmail_quote><div class=gmail_attr>{on}<br></div><blockquote>{original}</blockquote>"
    "</div><div>{own}</div>",
    "Gmail, within": "<div class=gmail_quote><div class=gmail_attr>{on}</div><blockquote>Clans 17: your turn, Alice."
    "</blockquote><div>{own}</div><blockquote>{original}</blockquote></div>",
    "Gmail, forwarded": "<div>{own}<br><br><div class=gmail_quote><div class=gmail_attr>---------- Forwarded message "
    "---------<br>From: <b>Clachan</b> <span>&lt;t@x.example&gt;</span><br>Date: Tue, Nov 3<br>Subject: Clans 17<br>"
    "</div><br>{original}</div></div>",
    "Gmail, with a signature": "<div>{own}<div><br></div><span>-- </span><br><div>Alice<br>C1-C3</div></div><div>{on}"
    "<blockquote>{original}</blockquote></div>",
    "Apple": '<body>{own}<br><div><br><blockquote type="cite"><div>{on}</div><br><div>{original}</div></blockquote>'
    "</div></body>",
    "Outlook": "<html xmlns:o='urn'><head><style><!-- p {{margin:0}} --></style><!--[if mso]><xml><o:x/></xml>"
    "<![endif]--></head><body><p class=MsoNormal>{own}<o:p></o:p></p><p><o:p>&nbsp;</o:p></p><div style='border:none;"
    "border-top:solid #E1E1E1 1.0pt'><p><b>Från:</b> Clachan<br><b>Skickat:</b> den 3 november<br><b>Till:</b> Alice"
    "<br><b>Ämne:</b> Clans 17</p></div>{original}</body></html>",
    "Outlook on the web": '<div>{own}</div><div id="appendonsend"></div><hr><div id="x_divRplyFwdMsg"><b>Od:</b> '
    "Clachan<br><b>Odesláno:</b> úterý<br><b>Komu:</b> A<br></div><div>{original}</div>",
    "Outlook, headers in a table": "<p>{own}</p><hr><table><tr><td><b>De:</b></td><td>Clachan</td></tr><tr><td>Para:"
    "</td><td>Alice</td></tr><tr><td>Asunto:</td><td>Clans 17</td></tr></table><div>{original}</div>",
    "Thunderbird": '<p>{own}</p><div class="moz-cite-prefix">Spielhaus schrieb am 3.11.:<br></div><blockquote '
    'type="cite"><pre class="moz-quote-pre">{original}</pre></blockquote>',
    "Yahoo": '<div>{own}</div><div id="ydp1yahoo_quoted_2" class="ydp yahoo_quoted"><div>{on}</div><div>'
    "{original}</div></div>",
    "GMX": '<div>{own}</div><div name="quote" style="margin:10px; border-left:2px solid #C3D9E5;"><div>'
    "<b>Von:</b>&nbsp;Clachan<br/><b>An:</b> Alice<br/><b>Betreff:</b>&nbsp;Clans 17</div><div>{original}</div></div>",
    "Mail.ru": '<div>{own}</div><div style="border-left : 1px solid #0857A6;">{on}<br>{original}</div>',
    "QQ": "<div>{own}</div><div>------------------&nbsp;原始邮件&nbsp;------------------</div><div><b>发件人:</b>&nbsp;"
    '"Clachan";<br><b>发送时间:</b>&nbsp;2026年11月3日<br><b>主题:</b>&nbsp;Clans 17</div><div>{original}</div>',
    "Zoho": "<div>{own}</div><div>---- On Tue, 03 Nov 2026 10:11:12 +0100 <b>Clachan</b> wrote ---</div><blockquote>"
    "{original}</blockquote>",
    "indented": '<blockquote style="margin: 0 0 0 40px; border: none;">{own}</blockquote><div>{on}</div><blockquote>'
    "{original}</blockquote>",
    "our page": "<div>{own}</div><div>{on}</div><div><p class=marker>" + html.escape(MARKER) + "</p><h1>Clans 17</h1>"
    "<p>for example</p><p>D1-D2</p></div>",
}


@pytest.mark.parametrize("program", PAGES)
def test_a_page_of_any_program_is_read_like_its_text(program: str) -> None:
    on = html.escape(f"On Tue, Nov 3, 2026 at 10:11 AM Clachan <{ADDRESS}> wrote:")
    for original in ORIGINALS.values():
        below = html.escape(original).replace("\n", "\n" if program == "Thunderbird" else "<br>")
        text = markup.text(PAGES[program].format(own="<br>".join(OWN), on=on, original=below))
        assert own_lines(text) == OWN, text
