"""Questions in any script, with typos, identifiers, signs or none of all that, over a real index:
what is asked for is found."""

from collections.abc import Callable
from typing import Any

import pytest

from agentm_assets.recall.answer import Answer
from agentm_assets.recall.errors import QuestionRefused

Asker = Any  # the class in conftest.py, which cannot be imported from here
Ask = Callable[[str], Answer]

OTHERS = {
    f"other/{number}.md": f"# Note {number}\n\nThe {thing} of a {place}, first kept then parsed. "
    f"It holds a response and a store, version {number}.2.{number}.\n"
    for number, (thing, place) in enumerate(
        (thing, place)
        for thing in ("lamp", "kettle", "oven", "ladder", "bucket")
        for place in ("kitchen", "cellar", "garden", "workshop")
    )
}

NOTES = {
    **OTHERS,
    "zh/tar.md": "# tar\n\n> 归档实用程序。通常与压缩方法结合使用。\n\n- 创建存档并将其写入文件\n",
    "zh/percent.md": "# %\n\n> 管理作业和进程的 shell 语法。\n",
    "zh/bracket.md": "# [\n\n> 检查文件类型并比较值。\n",
    "zh/bang.md": "# !\n\n> Bash 内置命令，用于替换历史记录中的命令。\n",
    "zh/docker.md": "# Docker入门\n\n容器镜像的构建与发布。\n",
    "ja/curl.md": "# curl\n\n> サーバーとの間でデータを転送する。\n\n- ファイルに保存する\n",
    "ja/sushi.md": "# 寿司の作り方\n\n酢飯と新鮮な魚を用意する。ガリも忘れない。\n",
    "ko/zip.md": "# 압축\n\n파일을 아카이브에 압축하는 도구입니다.\n",
    "ar/book.md": "# مَكْتَبَة المَدِينَة\n\nتفتح المكتبة يوم الأحد في الصباح.\n",
    "he/peace.md": "# שָׁלוֹם\n\nהספרייה פתוחה ביום ראשון בבוקר.\n",
    "fa/tea.md": "# چای سبز\n\nمن هر روز می‌خواهم چای بنوشم.\n",
    "hi/water.md": "# पानी की टंकी\n\nटंकी हर सोमवार को साफ की जाती है।\n",
    "ru/wind.md": "# Ветряная мельница\n\nМельница стоит на холме за деревней.\n",
    "el/ship.md": "# Καράβι\n\nΤο καράβι φεύγει κάθε Τρίτη.\n",
    "th/rice.md": "# ข้าวเหนียว\n\nแช่ข้าวไว้ข้ามคืนก่อนนึ่ง\n",
    "emoji/party.md": "# Release day\n\nShipped it \U0001f389 with everyone.\n",
    "emoji/coder.md": "# Pairing\n\n\U0001f469\U0001f3fd\u200d\U0001f4bb reviewed the change.\n",
    "emoji/check.md": "# Chores\n\n\u2705\ufe0f shelves are up.\n",
    "ops/ingress.md": "# Kubernetes ingress\n\nTerminate TLS at the ingress controller.\n",
    "ops/postgres.md": "# PostgreSQL vacuum\n\nAutovacuum was too slow for the database.\n",
    "code/first.md": "# Guard\n\n`keep_first_lexical` puts a strong hit back.\n",
    "code/words.md": "# Policy\n\nWe drop last semantic duplicates by hand.\n",
    "code/parse.md": "# HTTP\n\n`parseHTTPResponse` raises on a bad status line.\n",
    "code/store.md": "# Where rows live\n\nSee `src/index/store.py` and the tests.\n",
    "code/windows.md": "# Paths\n\nThe log lies at `C:\\Users\\op\\Logs\\agent.log` there.\n",
    "code/url.md": "# Mirror\n\nFetch https://mirror.example.org/pub/list-v2.html nightly.\n",
    "code/dagster.md": "# Upgrade\n\nWe pinned the orchestrator at v1.13.27 last.\n",
    "code/python.md": "# Interpreter\n\nThe wheel wants python3.11 or newer.\n",
    "code/flags.md": "# Pipes\n\nJoin with `&&` and count `$#` arguments; `-C` changes folder.\n",
    "cli/at.md": "# gh at\n\nAn alias, see the original command.\n",
    **{f"cli/{word}.md": f"# gh {word}\n\nUse gh to {word}; gh asks.\n" for word in "abcdef"},
    "code/cpp.md": "# Build\n\nOnly the C++ part needs it.\n",
    "food/cafe.md": "# Café Zürich\n\nThe café by the lake, crème brûlée on Fridays.\n",
    "food/decomposed.md": "# Ma\u0301laga\n\nThe best sen\u0303or\u00edo sherry.\n",
    "food/street.md": "# Errand\n\nThe shop in the Hauptstra\u00dfe has it.\n",
}

FOUND = [
    # Chinese, Japanese, Korean, by words of the title and of the text
    ("tar 归档", "zh/tar.md"),
    ("创建存档", "zh/tar.md"),
    ("压缩方法", "zh/tar.md"),
    ("%", "zh/percent.md"),
    ("[", "zh/bracket.md"),
    ("!", "zh/bang.md"),
    ("what does % do", "zh/percent.md"),
    ("Docker 入门", "zh/docker.md"),
    ("docker入门", "zh/docker.md"),
    ("容器镜像", "zh/docker.md"),
    ("curl データ転送", "ja/curl.md"),
    ("寿司", "ja/sushi.md"),
    ("新鮮な魚", "ja/sushi.md"),
    ("酢", "ja/sushi.md"),
    ("ガリ", "ja/sushi.md"),
    ("압축 도구", "ko/zip.md"),
    ("아카이브", "ko/zip.md"),
    # right to left, with and without points, and other scripts
    ("مكتبة المدينة", "ar/book.md"),
    ("المكتبه", "ar/book.md"),
    ("שלום", "he/peace.md"),
    ("שָׁלוֹם", "he/peace.md"),
    ("הספרייה", "he/peace.md"),
    ("ميخواهم", "fa/tea.md"),
    ("می‌خواهم", "fa/tea.md"),
    ("टंकी", "hi/water.md"),
    ("мельница", "ru/wind.md"),
    ("καράβι", "el/ship.md"),
    ("ข้าวเหนียว", "th/rice.md"),
    # emoji
    ("\U0001f389", "emoji/party.md"),
    ("where did we write \U0001f389", "emoji/party.md"),
    ("\U0001f4bb", "emoji/coder.md"),
    ("\U0001f469\u200d\U0001f4bb", "emoji/coder.md"),
    ("\u2705", "emoji/check.md"),
    # typos: missing, wrong, swapped, doubled
    ("kuberntes ingres", "ops/ingress.md"),
    ("kubernetse", "ops/ingress.md"),
    ("kubernates ingress contoller", "ops/ingress.md"),
    ("postgers vacum", "ops/postgres.md"),
    ("autovaccuum", "ops/postgres.md"),
    ("ostgresql", "ops/postgres.md"),
    # identifiers
    ("keep_first_lexical", "code/first.md"),
    ("keep first lexical", "code/first.md"),
    ("keepFirstLexical", "code/first.md"),
    ("drop_last_semantic", "code/words.md"),
    ("dropLastSemantic", "code/words.md"),
    ("parseHTTPResponse", "code/parse.md"),
    ("parse http response", "code/parse.md"),
    ("parse_http_response", "code/parse.md"),
    ("src/index/store.py", "code/store.md"),
    ("store.py", "code/store.md"),
    (r"src\index\store.py", "code/store.md"),
    (r"C:\Users\op\Logs\agent.log", "code/windows.md"),
    ("agent.log", "code/windows.md"),
    ("C:/Users/op/Logs", "code/windows.md"),
    ("https://mirror.example.org/pub/list-v2.html", "code/url.md"),
    ("mirror.example.org", "code/url.md"),
    ("list-v2.html", "code/url.md"),
    ("v1.13.27", "code/dagster.md"),
    ("1.13.27", "code/dagster.md"),
    ("python 3.11", "code/python.md"),
    ("3.11", "code/python.md"),
    ("&&", "code/flags.md"),
    ("what is $# for", "code/flags.md"),
    ("C++", "code/cpp.md"),
    # accents
    ("cafe zurich", "food/cafe.md"),
    ("CAF\u00c9", "food/cafe.md"),
    ("Zuerich", "food/cafe.md"),
    ("creme brulee", "food/cafe.md"),
    ("M\u00e1laga", "food/decomposed.md"),
    ("senorio", "food/decomposed.md"),
    ("Hauptstrasse", "food/street.md"),
    # a title of words that say nothing
    ("gh at", "cli/at.md"),
    # pasted as a query language
    ('AND OR NOT "kubernetes" -ingress title:x (^~*', "ops/ingress.md"),
    ('"keep first lexical"', "code/first.md"),
    ("title:sherry", "food/decomposed.md"),
    ("sherry* AND (best", "food/decomposed.md"),
    ("sherry " + "x " * 6_000, "food/decomposed.md"),
    ("sherry " + "y" * 20_000, "food/decomposed.md"),
]


@pytest.fixture(scope="module")
def ask(shared_asker: Asker) -> Ask:
    shared_asker.write(NOTES)
    shared_asker.index()
    sources = shared_asker.sources()
    return lambda question: shared_asker.ask(question, sources)


@pytest.mark.parametrize(("question", "path"), FOUND, ids=[each[0][:40] for each in FOUND])
def test_it_is_found(ask: Ask, question: str, path: str) -> None:
    (hit,) = (hit for hit in ask(question).hits[:3] if hit.path == path)
    assert hit.parts.lexical_rank == 1


@pytest.mark.parametrize(
    ("question", "marked"),
    [
        ("\U0001f389", "\U0001f389"),
        ("टंकी", "टंकी"),
        ("שלום", "שָׁלוֹם"),
        ("مكتبة", "مَكْتَبَة"),
        ("寿司", "寿司"),
        ("&&", "&&"),
        ("kuberntes", "Kubernetes"),
        ("parse http response", "parseHTTPResponse"),
    ],
)
def test_what_was_found_is_marked(ask: Ask, question: str, marked: str) -> None:
    hit = ask(question).hits[0]
    assert marked in [hit.snippet[start:end] for start, end in hit.matches]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("kuberntes ingres", "searched for kubernetes instead of kuberntes"),
        ("kuberntes ingres", "searched for ingress instead of ingres"),
        ("Zuerich", "searched for zurich instead of Zuerich"),
    ],
)
def test_what_was_searched_for_instead_is_said(ask: Ask, question: str, said: str) -> None:
    answer = ask(question)
    assert said in (answer.why or "")
    assert answer.verdict != "none"


def test_a_known_word_is_not_taken_for_a_more_frequent_one(ask: Ask) -> None:
    assert "instead" not in (ask("kubernetes ingress").why or "")


@pytest.mark.parametrize("question", ["", " \n\t"])
def test_nothing_is_refused_with_a_reason(ask: Ask, question: str) -> None:
    with pytest.raises(QuestionRefused, match="empty"):
        ask(question)


@pytest.mark.parametrize("question", ["the what of and", "AND OR NOT", "is it"])
def test_stop_words_alone_answer_nothing_for_certain(ask: Ask, question: str) -> None:
    assert ask(question).verdict in ("weak", "none")


@pytest.mark.parametrize(
    "question", ["?", "...", "\0", "(^~*", '"', "\udc80", "\u202e", "\\", "'; DROP TABLE notes; --"]
)
def test_any_signs_are_answered(ask: Ask, question: str) -> None:
    assert ask(question).verdict in ("answer", "weak", "none")
