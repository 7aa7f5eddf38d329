import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentm_assets.index import lexical
from agentm_assets.index.lexical import (
    MAX_TERMS,
    LexicalBusy,
    LexicalDoc,
    LexicalPublisher,
    LexicalReader,
)
from agentm_assets.index.serving import ServingUnreadable


def doc(
    chunk: int, body: str, *, path: str = "", title: str = "", names: str = "", heads: str = ""
) -> LexicalDoc:
    return LexicalDoc(chunk, path or f"{chunk}.md", title, names, heads, body, (title, body))


def publish(folder: Path, *docs: LexicalDoc, rev: int = 1, full: bool = True) -> LexicalPublisher:
    publisher = LexicalPublisher(folder)
    publisher.publish("idx", rev, docs, [], full=full)
    return publisher


def found(folder: Path, question: str, limit: int = 50) -> list[int]:
    return [hit.chunk_id for hit in LexicalReader.open(folder).search(question, limit)]


FILLER = [doc(1000 + i, f"filler text number {i} about gardens and weather") for i in range(30)]


@pytest.mark.parametrize(
    ("body", "question"),
    [
        ("CREATE INDEX x USING gin (name gin_trgm_ops)", "Was the gin_trgm_ops index worth it?"),
        ("CREATE INDEX x USING gin (name gin_trgm_ops)", "trgm"),
        ("export SQLITE_TMPDIR=/var/tmp", "What do I point SQLITE_TMPDIR at?"),
        ("export SQLITE_TMPDIR=/var/tmp", "tmpdir"),
        ("installed as python3.13t in /usr", "Where did the installer put python3.13t?"),
        ("attach gdb and run py-bt to see frames", "how to get a py-bt backtrace"),
        ("attach gdb and run py-bt to see frames", "py-bt"),
        ("call getHTTPResponse first", "http response"),
        ("call getHTTPResponse first", "gethttpresponse"),
        ("an HTTP response arrived", "getHTTPResponse"),
        ("use parseHTTPBody", "getHTTPResponse"),
        ("written in C++ long ago", "c++"),
        ("The queries were running", "run query"),
        ("Größe der Straße", "grosse strasse"),
        ("déjà vu in the café", "deja cafe"),
        ("Dockerコンテナを起動する方法", "コンテナの起動"),
        ("Dockerコンテナを起動する方法", "docker"),
        ("数据库的备份每天晚上进行", "备份"),
        ("数据库的备份每天晚上进行", "什么时候备份数据库"),
        ("猫在睡觉", "猫"),
        ("การสำรองข้อมูลทุกคืน", "สำรองข้อมูล"),
        ("데이터베이스를 백업합니다", "데이터베이스 백업"),
        ("резервные копии создаются ночью", "копии ночью"),
    ],
)
def test_a_question_finds_the_chunk_that_holds_its_words(tmp_path: Path, body: str, question: str):
    publish(tmp_path, *FILLER, doc(7, body))
    assert found(tmp_path, question)[:1] == [7]


def test_a_whole_identifier_counts_more_than_its_words(tmp_path: Path):
    scattered = [doc(i, "bt and py and more bt py in one place") for i in range(3)]
    publish(tmp_path, *FILLER, *scattered, doc(7, "one py-bt among a lot of other words here"))
    assert found(tmp_path, "py-bt")[0] == 7


def test_letters_and_numbers_inside_an_identifier_are_not_asked_for(tmp_path: Path):
    publish(tmp_path, doc(1, "chapter 3 t"), doc(2, "to get it"), doc(3, "kestrel wings"))
    assert found(tmp_path, "kestrel3t") == [3]
    assert found(tmp_path, "getKestrel") == [3]


@pytest.mark.parametrize("field", ["title", "names", "heads", "body"])
@pytest.mark.parametrize("word", ["kestrel", "鷹狩"])
def test_every_field_is_searched(tmp_path: Path, field: str, word: str):
    fields = {"body": "words", field: f"the {word} again"}
    publish(tmp_path, *FILLER, doc(7, **fields))
    assert found(tmp_path, word) == [7]


def test_stop_words_are_asked_for_only_when_there_is_nothing_else(tmp_path: Path):
    publish(tmp_path, doc(1, "to be or not to be"), doc(2, "the the the owl"), doc(3, "owls"))
    assert set(found(tmp_path, "what is the owl")) == {2, 3}
    assert found(tmp_path, "to be")[0] == 1
    assert [term for term, _ in LexicalReader.open(tmp_path).question_terms("is the owl")] == [
        "owl"
    ]


@pytest.mark.parametrize(
    "question",
    [
        *("", " ", "?", "\x00", '"', "+-&&||!(){}[]^~*?:\\/", "title:owl", "owl~", "owl^", "*:*"),
        *('"owl', "(owl", "owl)", "NOT owl", "owl AND", "[a TO b]", "-owl", "🦉", "\u202eowl"),
        *("\udce9", "owl\ud83e", "שלום owl", "owl " * 2500, "a" * 10_000, "\n\r\t", "\u0301" * 99),
    ],
)
def test_any_text_is_a_valid_question(tmp_path: Path, question: str):
    publish(tmp_path, *FILLER, doc(7, "the owl hunts mice"))
    reader = LexicalReader.open(tmp_path)
    hits = reader.search(question, 10)
    assert len({hit.chunk_id for hit in hits}) == len(hits) <= 10
    if "owl" in question:
        assert [hit.chunk_id for hit in hits] == [7]
    assert all(idf >= 0 for _, idf in reader.question_terms(question))


@settings(max_examples=150, deadline=None)
@given(question=st.text(max_size=300), body=st.text(max_size=300))
def test_no_text_is_too_odd_to_index_or_to_ask(
    tmp_path_factory: pytest.TempPathFactory, question: str, body: str
):
    folder = tmp_path_factory.mktemp("lexical")
    publish(folder, doc(7, body, title=question[:9]), *FILLER[:3])
    reader = LexicalReader.open(folder)
    for asked in (question, body):
        terms = [term for term, _ in reader.question_terms(asked)]
        assert len(terms) == len(set(terms))
        assert set(terms) <= set(reader.analyse(asked))
        reader.search(asked, 3)
    if reader.question_terms(body):
        assert reader.search(body, 9)[0].chunk_id == 7


def test_a_pasted_page_is_searched_by_its_rarest_words(tmp_path: Path):
    rnd = random.Random(2)
    common = [f"common{a}{b}" for a in "abcdefghijklmno" for b in "abcdefghijklmnopqrst"]
    docs = [doc(i, " ".join(rnd.choices(common, k=80))) for i in range(200)]
    publish(tmp_path, *docs, doc(900, "zephyrine quixotry"))
    page = " ".join(rnd.choices(common, k=900)) + " zephyrine quixotry"
    reader = LexicalReader.open(tmp_path)
    terms = [term for term, _ in reader.question_terms(page)]
    assert len(terms) == MAX_TERMS
    assert terms[-2:] == ["zephyrin", "quixotri"]
    assert 900 in [hit.chunk_id for hit in reader.search(page, 300)]


def test_the_idf_of_a_term_falls_with_the_chunks_that_have_it(tmp_path: Path):
    docs = [doc(i, "often " + ("seldom " if i < 3 else "")) for i in range(20)]
    publish(tmp_path, *docs)
    reader = LexicalReader.open(tmp_path)
    weights = dict(reader.question_terms("often seldom never 決して"))
    assert weights["never"] == weights["決し"] > weights["seldom"] > weights["often"] >= 0
    assert reader.count == 20


def test_replaced_chunks_that_tantivy_still_counts_make_no_weight_negative(tmp_path: Path):
    chunks = [doc(i, "owl", path="b.md") for i in range(10)]
    publisher = publish(tmp_path, doc(99, "owl", path="a.md"), *chunks)
    publisher.publish("idx", 2, chunks[:1], [], full=False)
    reader = LexicalReader.open(tmp_path)
    assert reader.count == 2
    assert dict(reader.question_terms("owl"))["owl"] >= 0
    assert found(tmp_path, "owl") == [0, 99]


def test_scores_are_sorted_and_equal_ones_by_id_even_at_the_cut(tmp_path: Path):
    order = list(range(300))
    random.Random(4).shuffle(order)
    docs = [doc(i, "the same text") for i in order]
    publisher = publish(tmp_path, *docs[:100])
    for rev in range(2, 12):
        part = docs[100 + 20 * (rev - 2) : 100 + 20 * (rev - 1)]
        publisher.publish("idx", rev, part, [], full=False)
    for limit in (1, 7, 150, 300, 500):
        assert found(tmp_path, "same text", limit) == list(range(300))[:limit]
    reader = LexicalReader.open(tmp_path)
    assert len({hit.score for hit in reader.search("same", 300)}) == 1
    assert reader.search("same", 0) == []


PATHS = st.sampled_from(["a.md", "b/c.md", "\udcfe.md", "\udcff.md", "ü.md", "x" * 240 + ".md"])
STEP = st.tuples(
    st.dictionaries(PATHS, st.lists(st.sampled_from(["owl", "kite", "wren"]), max_size=3)),
    st.lists(PATHS, max_size=3),
    st.sampled_from([False] * 6 + [True]),
)


@settings(max_examples=25, deadline=None)
@given(st.lists(STEP, max_size=12))
def test_any_sequence_of_publishings_finds_what_a_dictionary_holds(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple]
):
    folder = tmp_path_factory.mktemp("lexical")
    publisher = publish(folder)
    reader = LexicalReader.open(folder)
    content: dict[str, list[str]] = {}
    for rev, (notes, dead, full) in enumerate(steps, 2):
        docs = [
            LexicalDoc(abs(hash((path, i))), path, "t", "", "", body, (body,))
            for path, bodies in notes.items()
            for i, body in enumerate(bodies)
        ]
        publisher.publish("idx", rev, docs, dead, full=full)
        content = {} if full else content
        for path in (*dead, *(path for path, bodies in notes.items() if bodies)):
            content.pop(path, None)
        content |= {path: bodies for path, bodies in notes.items() if bodies}
        reader.refresh()
        for word in ("owl", "kite", "wren"):
            expected = {
                abs(hash((path, i)))
                for path, bodies in content.items()
                for i, body in enumerate(bodies)
                if body == word
            }
            assert {hit.chunk_id for hit in reader.search(word, 99)} == expected
        assert reader.count == sum(map(len, content.values()))
        assert reader.state.rev == rev


def test_a_shrunken_note_leaves_no_chunk_behind(tmp_path: Path):
    publisher = publish(tmp_path, *(doc(i, "owl", path="n.md") for i in range(5)))
    publisher.publish("idx", 2, [doc(0, "owl", path="n.md")], [], full=False)
    assert found(tmp_path, "owl") == [0]
    publisher.publish("idx", 3, [], ["n.md"], full=False)
    assert found(tmp_path, "owl") == []


def test_a_note_is_added_for_kilobytes(tmp_path: Path):
    rnd = random.Random(3)
    vocabulary = [f"word {i}" for i in range(5000)]
    docs = [doc(i, " ".join(rnd.choices(vocabulary, k=100))) for i in range(4000)]
    publisher = LexicalPublisher(tmp_path)
    whole = publisher.publish("idx", 1, docs, [], full=True)
    assert whole.docs == 4000
    one = publisher.publish("idx", 2, [doc(9000, "a single saved note")], [], full=False)
    assert one.docs == 1
    assert 0 < one.bytes_written < 30_000 < whole.bytes_written


def test_a_reader_sees_the_next_state_when_it_looks(tmp_path: Path):
    publisher = publish(tmp_path, doc(1, "owl"))
    reader = LexicalReader.open(tmp_path)
    assert not reader.refresh()
    publisher.publish("idx", 2, [doc(2, "owl")], [], full=False)
    assert [hit.chunk_id for hit in reader.search("owl", 9)] == [1]
    assert reader.refresh()
    assert [hit.chunk_id for hit in reader.search("owl", 9)] == [1, 2]
    publisher.publish("idx", 3, [doc(3, "owl")], [], full=True)
    assert [hit.chunk_id for hit in reader.search("owl", 9)] == [1, 2]  # the old one, still whole
    assert reader.refresh()
    assert [hit.chunk_id for hit in reader.search("owl", 9)] == [3]
    assert len(list(tmp_path.glob("gen-*"))) == 1


def test_another_index_is_not_continued(tmp_path: Path):
    publisher = publish(tmp_path, doc(1, "owl"))
    with pytest.raises(ServingUnreadable, match="another index"):
        publisher.publish("other", 2, [doc(2, "owl")], [], full=False)
    publisher.publish("other", 2, [doc(2, "owl")], [], full=True)
    assert found(tmp_path, "owl") == [2]


def damage(folder: Path, how: str) -> None:
    manifest = folder / "manifest.json"
    home = next(folder.glob("gen-*"))
    if how == "no manifest":
        manifest.unlink()
    elif how == "cut manifest":
        manifest.write_bytes(manifest.read_bytes()[:-5])
    elif how == "a list":
        manifest.write_text("[]")
    elif how == "newer":
        manifest.write_text(manifest.read_text().replace('"format": ', '"format": 9'))
    elif how == "words for numbers":
        manifest.write_text(manifest.read_text().replace('"rev": 1', '"rev": "1"'))
    elif how == "another generation":
        manifest.write_text(manifest.read_text().replace('"generation": 1', '"generation": 8'))
    elif how == "no files":
        for path in home.iterdir():
            path.unlink()
    elif how == "cut meta":
        (home / "meta.json").write_bytes((home / "meta.json").read_bytes()[:-20])
    else:
        path = next(home.glob(f"*.{how.removeprefix('cut ')}"))
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize(
    "how",
    [
        *("no manifest", "cut manifest", "a list", "newer", "words for numbers"),
        *("another generation", "no files", "cut meta", "cut idx", "cut term", "cut fast"),
    ],
)
def test_damage_is_named_and_a_full_publishing_heals_it(tmp_path: Path, how: str):
    publisher = publish(tmp_path, *FILLER)
    damage(tmp_path, how)
    with pytest.raises(ServingUnreadable, match=str(tmp_path)):
        LexicalReader.open(tmp_path)
    assert publisher.state() is None
    with pytest.raises(ServingUnreadable):
        publisher.publish("idx", 2, [doc(1, "owl")], [], full=False)
    publisher.publish("idx", 2, [doc(1, "owl")], [], full=True)
    assert found(tmp_path, "owl") == [1]
    assert len(list(tmp_path.iterdir())) == 2


def test_damage_inside_a_file_is_noticed_when_it_is_read_and_made_up_for(tmp_path: Path):
    rnd = random.Random(3)
    docs = [doc(i, " ".join(f"word{n}" for n in rnd.choices(range(500), k=60))) for i in range(600)]
    publisher = publish(tmp_path, *docs)
    path = next(next(tmp_path.glob("gen-*")).glob("*.idx"))
    content = bytearray(path.read_bytes())
    for at in range(0, len(content) // 2, 7):
        content[at] ^= 0xA5
    path.write_bytes(content)
    assert publisher.state() is not None  # opening reads no postings
    reader = LexicalReader.open(tmp_path)
    with pytest.raises(ServingUnreadable, match=str(tmp_path)):
        for number in range(500):
            reader.search(f"word{number} word{number + 1}", 10)
    assert publisher.state() is None
    with pytest.raises(ServingUnreadable, match="damaged"):
        publisher.publish("idx", 2, [doc(1, "owl")], [], full=False)
    publish(tmp_path, *docs)
    assert publisher.state() is not None
    assert LexicalReader.open(tmp_path).search("word1", 3)


def test_a_refresh_that_fails_keeps_what_it_has(tmp_path: Path):
    publish(tmp_path, doc(1, "owl"))
    reader = LexicalReader.open(tmp_path)
    damage(tmp_path, "cut manifest")
    with pytest.raises(ServingUnreadable):
        reader.refresh()
    assert [hit.chunk_id for hit in reader.search("owl", 9)] == [1]


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def line_of(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


PUBLISHING = """
import sys
from pathlib import Path
from agentm_assets.index.lexical import LexicalDoc, LexicalPublisher
WORDS = sys.argv[3].split()
publisher = LexicalPublisher(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for rev in range(2, 2 + int(sys.argv[2])):
    # Every state holds forty chunks of one note, and all say the same: the rev's own word.
    word = WORDS[rev % 5]
    docs = [LexicalDoc(i, "n.md", "owl", "", "", word, (word,)) for i in range(40)]
    publisher.publish("idx", rev, docs, ["n.md"], full=rev % 4 == 0)
print("done", flush=True)
"""


def test_a_reader_beside_a_publisher_sees_only_whole_states(tmp_path: Path):
    birds = ["kite", "wren", "rook", "swan", "crow"]
    publish(tmp_path, *(doc(i, "wren", path="n.md", title="owl") for i in range(40)))
    child = start(PUBLISHING, tmp_path, 40, " ".join(birds))
    assert child.stdin is not None
    assert line_of(child) == "ready"
    child.stdin.write("go\n")
    child.stdin.flush()
    kept = LexicalReader.open(tmp_path)
    seen: set[int] = set()
    while True:
        for reader in (LexicalReader.open(tmp_path), kept):
            reader.refresh()
            assert [hit.chunk_id for hit in reader.search("owl", 99)] == list(range(40))
            held = [len(reader.search(bird, 99)) for bird in birds]
            assert sorted(held) == [0, 0, 0, 0, 40]
            seen.add(reader.state.rev)
        if child.poll() is not None:
            break
    assert child.communicate()[0] == "done\n"
    assert LexicalReader.open(tmp_path).state.rev == 41
    assert len(seen) > 5


KILLED = """
import sys
from pathlib import Path
from agentm_assets.index import lexical
from agentm_assets.index.lexical import LexicalDoc, LexicalPublisher

def stop(*arguments):
    print("here", flush=True)
    sys.stdin.read()

def docs():
    yield LexicalDoc(2, "2.md", "", "", "", "owl", ("owl",))
    if sys.argv[2] == "in the middle":
        stop()

if sys.argv[2] == "before the manifest":
    lexical.write_manifest = stop
LexicalPublisher(Path(sys.argv[1])).publish("idx", 2, docs(), ["1.md"], full=sys.argv[3] == "full")
"""


@pytest.mark.parametrize("where", ["in the middle", "before the manifest"])
@pytest.mark.parametrize("how", ["full", "delta"])
def test_a_publisher_that_is_killed_blocks_nobody_and_is_made_up_for(
    tmp_path: Path, where: str, how: str
):
    publisher = publish(tmp_path, doc(1, "owl"), doc(3, "owl"))
    child = start(KILLED, tmp_path, where, how)
    assert line_of(child) == "here"
    child.kill()
    child.communicate()
    reader = LexicalReader.open(tmp_path)
    assert reader.state.rev == 1
    if how == "full" or where == "in the middle":
        assert found(tmp_path, "owl") == [1, 3]
    publisher.publish("idx", 2, [doc(2, "owl")], ["1.md"], full=False)
    assert found(tmp_path, "owl") == [2, 3]
    publisher.publish("idx", 3, [doc(2, "owl")], [], full=True)
    assert found(tmp_path, "owl") == [2]
    assert len(list(tmp_path.iterdir())) == 2


def test_a_second_writer_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    publisher = publish(tmp_path, doc(1, "owl"))
    child = start(KILLED, tmp_path, "in the middle", "delta")
    assert line_of(child) == "here"
    monkeypatch.setattr(lexical, "_LOCK_WAITS", (0.0, 0.0))
    with pytest.raises(LexicalBusy, match="another process is writing"):
        publisher.publish("idx", 2, [doc(2, "owl")], [], full=False)
    assert found(tmp_path, "owl") == [1]  # a reader is not held up
    child.kill()
    child.communicate()
    publisher.publish("idx", 2, [doc(2, "owl")], [], full=False)
    assert found(tmp_path, "owl") == [1, 2]


def test_a_document_that_raises_leaves_the_index_as_it_was(tmp_path: Path):
    publisher = publish(tmp_path, doc(1, "owl"))

    def docs():
        yield doc(2, "owl")
        raise KeyError("no such note")

    for whole in (False, True):
        with pytest.raises(KeyError):
            publisher.publish("idx", 2, docs(), ["1.md"], full=whole)
        assert found(tmp_path, "owl") == [1]
    publisher.publish("idx", 2, [doc(2, "owl")], [], full=False)
    assert found(tmp_path, "owl") == [1, 2]


def test_the_question_costs_what_its_first_page_costs(tmp_path: Path):
    publish(tmp_path, *FILLER)
    reader = LexicalReader.open(tmp_path)
    rnd = random.Random(1)
    page = " ".join(f"term{rnd.randrange(10**6)}" for _ in range(2_000))

    def seconds(question: str) -> float:
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            reader.search(question, 10)
            best = min(best, time.process_time() - start)
        return best

    assert seconds(page * 30) < 3 * seconds(page) + 0.01


def test_reading_imports_nothing_heavy(tmp_path: Path):
    publish(tmp_path, doc(1, "owl"))
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from agentm_assets.index.lexical import LexicalReader\n"
        "reader = LexicalReader.open(Path(sys.argv[1]))\n"
        "reader.search('owl', 1)\n"
        "heavy = ('numpy', 'duckdb', 'pydantic', 'torch', 'dagster')\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
