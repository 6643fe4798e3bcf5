"""Every claim of the articles runs on the installed LangChain, and comes out as it was recorded."""

import asyncio
import json
from typing import Any

import pytest

from minilc.course import articles, cli
from minilc.course.articles import ledger, support
from minilc.course.articles.view import Shown
from minilc.course.layers import LAYERS

CLAIMS = ledger.claims()


@pytest.mark.parametrize("claim", CLAIMS, ids=[one.id for one in CLAIMS])
def test_a_claim_comes_out_as_it_was_recorded(claim: ledger.Claim) -> None:
    result = claim.run()
    assert (result.verdict, result.shows if not result.as_recorded else "") == (result.recorded, "")
    assert claim.section and claim.layer in {row.module for row in LAYERS}


def test_the_claims_are_in_the_order_of_the_articles() -> None:
    for article in "AB":
        numbers = [int(one.id[2:]) for one in CLAIMS if one.article == article]
        assert numbers == sorted(numbers)


def test_no_claim_is_missing() -> None:
    every = [f"A-{n:02}" for n in range(1, 154)] + [f"B-{n:02}" for n in range(1, 51)]
    assert [one.id for one in CLAIMS] == every


def test_a_verdict_is_computed() -> None:
    def seen(said: bool, but: bool = False, once: str = "") -> str:
        recorded = {"one": "", "two": ""}
        check = lambda: ledger.Seen(said, but)  # noqa: E731  # as small as it can be
        return ledger.Claim("A-00", "s", "s", "base", check, "", once, recorded).run().verdict

    assert seen(True) == ledger.HOLDS
    assert seen(True, but=True) == ledger.NUANCE
    assert seen(False) == ledger.WRONG
    assert seen(False, but=True, once="langchain 0.3") == ledger.CHANGED


def test_a_check_that_fails_is_a_verdict_of_its_own() -> None:
    def gone() -> ledger.Seen:
        raise AttributeError("no such thing")

    claim = ledger.Claim("A-00", "s", "s", "base", gone, "", "", {"one": "", "two": ""})
    result = claim.run()
    assert (result.verdict, result.shows) == (ledger.FAILS, "AttributeError: no such thing")
    assert not result.as_recorded


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"id": CLAIMS[0].id}, "stands in the ledger already"),
        ({"verdict": ledger.WRONG}, "really=''"),
        ({"really": "not so"}, "really='not so'"),
        ({"verdict": ledger.CHANGED, "really": "not so"}, "once=''"),
        ({"once": "langchain 0.3"}, "once='langchain 0.3'"),
    ],
)
def test_words_and_verdict_must_fit(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ledger.claim(**{"id": "A-00", "says": "s", "layer": "base", **options})


def test_the_command_prints_tables_json_and_markdown(capsys: Any) -> None:
    assert cli.main(["articles", "A-01", "A-03"]) == 0
    printed = capsys.readouterr().out
    assert "2 claims: 1 holds, 1 changed since; 0 not as recorded" in printed
    assert cli.main(["articles", "--json", "A-03"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["id"], row["verdict"], row["once"]) == (
        "A-03",
        "changed since",
        "langchain-core 0.2.12",
    )
    assert cli.main(["articles", "--markdown", "A-03"]) == 0
    assert "| A-03 | tools are defined in the file" in capsys.readouterr().out
    assert cli.main(["articles", "--changed", "A-01"]) == 0
    assert "A-01" not in capsys.readouterr().out
    assert cli.main(["articles", "nothing"]) == 2


def test_a_changed_verdict_is_shown_and_is_the_status(monkeypatch: Any, capsys: Any) -> None:
    wrong = ledger.Claim(
        "A-00",
        "s",
        "pigs fly",
        "base",
        lambda: ledger.Seen(False),
        "",
        "",
        dict.fromkeys(("one", "two"), "holds"),
    )
    monkeypatch.setattr(articles, "_chosen", lambda words: [CLAIMS[0], wrong])
    assert cli.main(["articles", "--changed"]) == 1
    printed = capsys.readouterr().out
    assert "wrong (recorded: holds)" in " ".join(printed.split()) and "1 not as recorded" in printed


def test_a_section_is_shown_as_a_table_and_as_text() -> None:
    table = articles.show("A", "Layer 1", "Layer 2")
    assert [one.claim.id for one in table.results] == [f"A-{n}" for n in range(15, 42)]
    assert table.fallen == ["A-15", "A-16", "A-21", "A-30", "A-33"] and table.moved == []
    assert table.head == (
        "Article A, Layer 1, Layer 2, 27 claims: 14 hold, 8 hold with a nuance, 5 changed since"
    )
    page, text = table._repr_html_(), repr(table)
    assert table.head in page and table.head in text
    assert text.count("\n  ≠ A-") == 5 and page.count("<strong>≠</strong>") == 5
    assert "changed since (true of langchain-core 0.2.12): only None does" in text
    assert "tool() begins at line 977 of langchain_core/tools.py" in page
    assert str(support.SITE) not in page + text


@pytest.mark.parametrize(
    ("asked", "message"),
    [(("C",), "no article 'C'"), (("B", "Layer 1"), "article B has no section 'Layer 1'; it has")],
)
def test_what_is_not_there_is_not_shown(asked: tuple[str, ...], message: str) -> None:
    with pytest.raises(LookupError, match=message):
        articles.show(*asked)


def test_what_is_shown_is_escaped_and_says_what_was_recorded() -> None:
    recorded = dict.fromkeys(("one", "two"), "holds")
    check = lambda: ledger.Seen(False)  # noqa: E731  # as small as it can be
    claim = ledger.Claim("A-00", "<s>", "<p>", "base", check, "<r>", "", recorded)
    fell = ledger.Result(claim, ledger.WRONG, "<i>at 0x7f12345678</i>")
    fails = ledger.Result(claim, ledger.FAILS, "KeyError: 'b'")
    table = Shown("<t>", (fell, fails))
    assert table.moved == table.fallen == ["A-00", "A-00"]
    page = table._repr_html_()
    assert not any(tag in page for tag in ("<s>", "<p>", "<r>", "<t>", "<i>"))
    assert "seen: &lt;i&gt;at 0x..&lt;/i&gt;" in page
    assert (
        "? A-00  <p>\n          the check fails, recorded was 'holds': <r>; seen: KeyErr"
        in repr(table)
    )


def test_a_claim_runs_where_a_loop_runs_as_in_a_notebook() -> None:
    chosen = [one for one in CLAIMS if one.id in ("A-24", "A-46", "A-89", "A-90", "A-127")]

    async def cell() -> list[ledger.Result]:
        return [one.run() for one in chosen]

    assert [one.as_recorded for one in asyncio.run(cell())] == [True] * 5
