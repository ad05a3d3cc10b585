"""Text edge lists as people have them: headers, comments, quotes, times, blanks, weights."""

from __future__ import annotations

from typing import Any

from corpus import Case, Maker, meant, refused, table, written

PACKAGES = [
    ("app", "lib"), ("app", "log"), ("lib", "core"), ("log", "core"), ("web", "app"), ("web", "http"), ("http", "core"),
    ("cli", "app"), ("cli", "log"), ("test", "lib"), ("test", "web"),
]  # fmt: skip
FILMS = [("u1", "m10"), ("u1", "m20"), ("u2", "m10"), ("u3", "m30"), ("u3", "m20"), ("u4", "m30"), ("u4", "m10")]
MAILS = [
    ("ann@a.org", "bob@b.org"), ("bob@b.org", "cy@c.org"), ("cy@c.org", "ann@a.org"), ("dora@d.org", "ann@a.org"),
    ("dora@d.org", "bob@b.org"),
]  # fmt: skip
HOSTS = [
    ("10.0.0.1", "10.0.0.2"), ("10.0.0.2", "192.168.1.7"), ("10.0.0.3", "10.0.0.1"), ("192.168.1.7", "10.0.0.9"),
    ("10.0.0.9", "10.0.0.3"),
]  # fmt: skip
AUTHORS = [
    ("Ada Lovelace", "Charles Babbage"), ("Emmy Noether", "David Hilbert"), ("David Hilbert", "Felix Klein"),
    ("Felix Klein", "Emmy Noether"), ("Ada Lovelace", "Mary Somerville"),
]  # fmt: skip
WORDS = [
    ("dog", "canine"), ("wolf", "canine"), ("canine", "carnivore"), ("cat", "feline"), ("feline", "carnivore"),
    ("carnivore", "mammal"), ("mammal", "animal"), ("bird", "animal"),
]  # fmt: skip
CITIES = [("New York", "Boston"), ("Boston", "San Francisco"), ("San Francisco", "New York"), ("Boston", "St. Louis")]
NUMBERS = [(1, 2), (2, 3), (3, 4), (1, 4), (4, 5)]
TAGS = [("#python", "#data"), ("#data", "#ai"), ("#ai", "#python"), ("#web", "#python")]
TAGGED = [("ann", "#python"), ("bob", "#python"), ("bob", "#data"), ("ann", "#data"), ("cy", "#data")]
FRIENDS = [("ann", "bob"), ("bob", "cy"), ("cy", "ann"), ("dora", "cy")]
EPOCHS = [(1, 2, 1082040961), (2, 3, 1082155839), (3, 4, 1082414391), (1, 4, 1082439619), (4, 5, 1082439756)]


def _case(name: str, make: Maker, expected: Any, **options: Any) -> Case:
    return Case(name, make, expected, options)


def _headed(header: str, rows: list[tuple[Any, ...]], *, delimiter: str = ",") -> Case:
    """A table with a header, of string ids: its first record is no edge."""
    name = "edges.tsv" if delimiter == "\t" else "edges.csv"
    return _case(
        f"header {header!r} of {rows[0][0]}",
        table(header, rows, delimiter=delimiter, name=name),
        meant(rows, directed="START_ID" in header, header=True),
    )


TAGS_AND_NOTES = table("note\ttag\tother", [("", *pair) for pair in TAGS], delimiter="\t", name="tags.tsv")
COMMENT_WITH_QUOTE = written('a "x" b\n#x "hi\nb "y\n" c\n', "q.txt")
EPOCH_LIST = table(None, EPOCHS, delimiter=" ", name="t.txt")
EPOCH_TABLE = table("src,dst,timestamp", EPOCHS)
MAIL_LOG = (
    "sender,receiver,subject\n"
    'ann@a.org,bob@b.org,"hello\nworld"\n'
    'bob@b.org,cy@c.org,"a, b, and ""c"""\n'
    'cy@c.org,ann@a.org,"one\ntwo,three\n,,\n"\n'
    "dora@d.org,ann@a.org,\n"
    "dora@d.org,bob@b.org,plain\n"
)
HEADERS = (
    _headed("package,depends_on", PACKAGES),
    _headed("package\tdepends_on", PACKAGES, delimiter="\t"),
    _headed("user_id,movie_id", FILMS),
    _headed("sender,receiver", MAILS),
    _headed(":START_ID,:END_ID", FILMS),
    _headed(":START_ID,:END_ID", PACKAGES),
    _headed("src_ip,dst_ip", HOSTS),
    _headed("author,coauthor", AUTHORS),
    _headed("Source,Target", PACKAGES),
    _headed("hyponym\thypernym", WORDS, delimiter="\t"),
    _case("no header: words", table(None, WORDS, delimiter="\t", name="words.tsv"), meant(WORDS, header=False)),
    _case("no header: IP pairs", table(None, HOSTS, name="flows.csv"), meant(HOSTS, header=False)),
    _case("no header: e-mail pairs", table(None, MAILS), meant(MAILS, header=False)),
    _case("no header: authors", table(None, AUTHORS), meant(AUTHORS, header=False)),
    _case("no header: packages", table(None, [PACKAGES[2], *PACKAGES[:2], *PACKAGES[3:]]),
          meant(PACKAGES, header=False)),
    _case("no header: numbers", table(None, NUMBERS, delimiter=" ", name="n.txt"), meant(NUMBERS, header=False)),
    _case("header or record: nobody can tell", written("one two\nthree four\n", "edges.txt"), refused("header=")),
    _case("header or record, said", written("one two\nthree four\n"), meant([("three", "four")]), header=True,
          delimiter=" "),
    _case("header or record, denied", written("one,two\nthree,four\n"), meant([("one", "two"), ("three", "four")]),
          header=False),
    _case("a column is named", written("one,two\nthree,four\n"), meant([("four", "three")], header=True), source="two",
          target="one"),
    _case("only a header", written("source,target\n"), refused("header")),
)  # fmt: skip
QUOTES = (
    _case("quoted line breaks in an unused column", written(MAIL_LOG), meant(MAILS, told=("subject",), records=5)),
    _case("the same with Windows line ends", written(MAIL_LOG.replace("\n", "\r\n")), meant(MAILS, records=5)),
    _case("a quote that is never closed", written('source,target\nann,"bob\nbob,cy\ncy,dora\n'), refused("quote")),
    _case("text after a quote", written('source,target\nann,"bob" b\nbob,cy\n'), refused("quote")),
    _case("a name of two lines", written('source,target\nann,"bob\nb"\nbob,cy\n'), refused("line")),
    _case("quotes within a name", written('source,target\na,5" pipe\nb,a\n'), meant([("a", '5" pipe'), ("b", "a")])),
    _case("doubled quotes", written('source,target\na,"the ""x"""\nb,a\n'), meant([("a", 'the "x"'), ("b", "a")])),
    _case("other quotes", written("source,target\na,'x, y'\nb,a\n"), meant([("a", "x, y"), ("b", "a")]), quote="'"),
    _case("no quotes", written('source,target\na,"x\nb,a\n'), meant([("a", '"x'), ("b", "a")]), quote=""),
    _case("blanks within quotes", written('source,target\n1," 7"\n7,2\n'),
          (meant([("1", " 7"), ("7", "2")]), refused("7"))),
    _case("an empty end in quotes", written('source,target\na,""\nb,a\n'), meant([("b", "a")], missing=1)),
)  # fmt: skip
COMMENTS = (
    _case(
        "SNAP",
        written(
            "# Directed graph\n# Nodes: 5 Edges: 5\n# FromNodeId\tToNodeId\n1\t2\n2\t3\n3\t4\n1\t4\n4\t5\n", "s.txt"
        ),
        meant(NUMBERS, told=("3 comment lines",), comments=3),
    ),
    _case("KONECT", written("% sym unweighted\n% 5 5 5\n1 2\n2 3\n3 4\n1 4\n4 5\n", "out.k"), meant(NUMBERS)),
    _case("KONECT with weights", written("% asym posweighted\n1 2 3\n2 3 1\n3 4 2.5\n", "out.txt"),
          meant([(1, 2, 3), (2, 3, 1), (3, 4, 2.5)], directed=True, told=("as the graph says",), comments=1)),
    _case("KONECT with times", written("% sym positive\n1 2 1 1082040961\n2 3 1 1082155839\n", "k.txt"),
          meant([(1, 2), (2, 3)], told=("not used: column 3 (times)",))),
    _case("hashtags below a header", table("tag,other", TAGS), meant(TAGS, records=4)),
    _case("hashtags without a header", table(None, TAGS), (refused("comments="), meant(TAGS))),
    _case("hashtags, said", table(None, TAGS), meant(TAGS), comments="", header=False),
    _case("hashtags in the second column", table(None, TAGGED), meant(TAGGED)),
    _case("a hashtag in the middle of blanks", written("ann bob\n#cy bob\ndora bob\n", "t.txt"), refused("comments=")),
    _case("a remark in the middle of a csv", written("ann,bob\nbob,cy\n# checked,by eve\ncy,ann\n"),
          refused("comments=")),
    _case("a remark in the middle, said", written("ann,bob\n# checked\nbob,cy\ncy,ann\n"), meant(FRIENDS[:3]),
          comments="#"),
    _case("a quote in a comment", written('"a" b\n#x "hi\n"b" c\n', "q.txt"), meant([("a", "b"), ("b", "c")]),
          comments="#"),
    _case("an open quote in a comment", COMMENT_WITH_QUOTE, meant([("a", "b"), ("b", "c")]), comments="#", target=2),
    _case("percent names", table("a,b", [("%x", "y"), ("y", "z"), ("%x", "z")]),
          meant([("%x", "y"), ("y", "z"), ("%x", "z")]), header=True),
)  # fmt: skip
TIMES = (
    _case("epoch seconds are no weights", EPOCH_LIST, refused("time=", "weights=")),
    _case("epoch seconds, said", EPOCH_LIST, meant(NUMBERS), time=2),
    _case("epoch seconds, left out", EPOCH_LIST, meant(NUMBERS), weights=False),
    _case("a column called timestamp", EPOCH_TABLE, meant(NUMBERS, told=("timestamp",))),
    _case("times until a day", EPOCH_TABLE, (meant(NUMBERS[:2]), meant(NUMBERS[:2], alone=(4, 5))), time="timestamp",
          until="2004-04-18"),
    _case("dates since a day", table("src,dst,day", [(1, 2, "2024-01-01"), (2, 3, "2024-02-01"), (3, 4, "2024-03-01")]),
          (meant([(2, 3), (3, 4)]), meant([(2, 3), (3, 4)], alone=(1,))), time="day", since="2024-02-01"),
)  # fmt: skip
COLUMNS = (
    _case("MovieLens",
          table("userId,movieId,rating,timestamp", [(1, 31, 2.5, 1260759144), (7, 31, 3.0, 851868750), (7, 50, 5, 2)]),
          meant([(1, 31), (7, 31), (7, 50)], told=("rating", "timestamp"), header=True)),
    _case("MovieLens with weights",
          table("userId,movieId,rating,timestamp", [(1, 31, 2.5, 1260759144), (7, 31, 3.0, 851868750)]),
          meant([(1, 31, 2.5), (7, 31, 3)], told=("rating",)), weights="rating"),
    _case("MovieLens with ::",
          written("1::1193::5::978300760\n2::1193::4::978298413\n2::661::3::978302109\n", "ratings.dat"),
          (refused("column"), refused("delimiter="))),
    _case(
        "bitcoin-otc with a header",
        table(
            "SOURCE,TARGET,RATING,TIME", [(6, 2, 4, 1289241911.73), (6, 5, 2, 1289241941.53), (1, 15, -1, 1289243140)]
        ),
        meant([(6, 2), (6, 5), (1, 15)], told=("RATING", "TIME")),
    ),
    _case("bitcoin-otc as it is",
          table(None, [(6, 2, 4, 1289241911.73), (6, 5, 2, 1289241941.53), (1, 15, 1, 1289243140)]),
          refused("source=", "target=", "weights=")),
    _case("numbers of records before the ends",
          table("id,person,friend", [(at, *pair) for at, pair in enumerate(FRIENDS, start=1)]),
          (meant(FRIENDS, told=("id",)), refused("source=", "target="))),
    _case("numbers of records, ends named",
          table("id,person,friend", [(at, *pair) for at, pair in enumerate(FRIENDS, start=1)]),
          meant(FRIENDS, told=("id",)), source="person", target="friend"),
    _case(
        "Gephi",
        table(
            "Source,Target,Type,Id,Label,Weight",
            [
                ("a", "b", "Undirected", 0, "", 2),
                ("b", "c", "Undirected", 1, "", 1),
                ("c", "d", "Undirected", 2, "", 0.5),
            ],
        ),
        meant([("a", "b", 2), ("b", "c", 1), ("c", "d", 0.5)], told=("Weight",)),
    ),
    _case("Neo4j",
          written(':START_ID,weight:int,:END_ID,:TYPE\n"k1",3,"k2",ROAD\n"k2",1,"k3",ROAD\n"k3",2,"k4",RAIL\n'),
          meant([("k1", "k2", 3), ("k2", "k3"), ("k3", "k4", 2)], directed=True)),
    _case("Neo4j with groups",
          written(":START_ID(Person),:END_ID(Person),:TYPE\np1,p2,KNOWS\np2,p3,KNOWS\np3,p4,KNOWS\n"),
          meant([("p1", "p2"), ("p2", "p3"), ("p3", "p4")], directed=True, header=True)),
    _case("a column called weight", table("from,to,note,weight", [("a", "b", "x", 2), ("b", "c", "y", 0.5)]),
          meant([("a", "b", 2), ("b", "c", 0.5)], told=("weight", "note"))),
    _case("negative weights", table("source,target,weight", [("a", "b", -1), ("b", "c", 2)]), refused("negative")),
    _case("weights that lack", table("source,target,weight", [("a", "b", ""), ("b", "c", 2)]), refused("weight")),
    _case("three columns of words", table(None, [("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b")]),
          refused("source=")),
    _case("one column", written("ann\nbob\ncy\n"), refused("column")),
)  # fmt: skip
MARKS = (
    _case("Excel: mark, semicolons, Windows lines",
          written("\ufeffsource;target;weight\r\nMüller;Åse;2\r\nÅse;Zoë;1\r\n"),
          meant([("Müller", "Åse", 2), ("Åse", "Zoë", 1)], delimiter="semicolon", header=True)),
    _case("Excel: decimal commas", written("source;target;weight\r\na;b;1,5\r\nb;c;2,5\r\n"),
          meant([("a", "b", 1.5), ("b", "c", 2.5)], told=("weights with decimal commas",))),
    _case("Excel in UTF-16", written("source\ttarget\na\tb\nb\tc\n".encode("utf-16"), "e.txt"),
          meant([("a", "b"), ("b", "c")])),
    _case("Latin-1", written("source,target\nZürich,Köln\nKöln,Århus\n".encode("latin-1")),
          meant([("Zürich", "Köln"), ("Köln", "Århus")])),
    _case("bars", table("source|target", PACKAGES, delimiter="|"), meant(PACKAGES), delimiter="|"),
    _case("a sheet of Excel under a wrong name", written(b"PK\x03\x04\x14\x00\x06\x00" + b"\0" * 40, "e.csv"),
          refused("")),
    _case("tabs and names with blanks", table(None, CITIES, delimiter="\t", name="c.tsv"), meant(CITIES)),
    _case("blanks around names in csv", written("source,target\n New York , Boston\nBoston ,St. Louis\n"),
          meant([("New York", "Boston"), ("Boston", "St. Louis")], trimmed=3)),
    _case("blanks around names in tsv", written("source\ttarget\n New York \t Boston\nBoston \tSt. Louis\n", "c.tsv"),
          meant([("New York", "Boston"), ("Boston", "St. Louis")], trimmed=3)),
    _case("commas against semicolons", written("a,b;c\nb,d;a\nd,c;b\n", "e.txt"), refused("delimiter=")),
    _case("commas against semicolons, said", written("a,b;c\nb,d;a\n", "e.txt"), meant([("a,b", "c"), ("b,d", "a")]),
          delimiter=";", header=False),
    _case("ragged lines", written("1,2\n2,3,4,5\n"), refused("column")),
    _case("an empty file", written(""), refused("empty")),
    _case("leading zeros", table(None, [("007", "8"), ("8", "9"), ("9", "007")]),
          meant([("007", "8"), ("8", "9"), ("9", "007")])),
    _case("decimal ids", table(None, [("1.0", "2.0"), ("2.0", "3.0")]), meant([("1.0", "2.0"), ("2.0", "3.0")])),
    _case("names of nothing", table("source,target", [("NA", "null"), ("null", "None"), ("None", "nan")]),
          meant([("NA", "null"), ("null", "None"), ("None", "nan")])),
    _case("nothing but loops", table("source,target", [("a", "a"), ("b", "b")]), refused("self-loop")),
)  # fmt: skip
CASES = (*HEADERS, *QUOTES, *COMMENTS, *TIMES, *COLUMNS, *MARKS)
