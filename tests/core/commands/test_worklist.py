import json

import pandas as pd
import pytest

from core.cli import main


def told(capsys):
    return json.loads(capsys.readouterr().out)


def test_from_a_ranking_to_a_case_file(demo_path, tmp_path, capsys):
    path, out, cases = tmp_path / "list.json", tmp_path / "cases.csv", tmp_path / "cases.pdf"
    dataset = [str(path), str(demo_path)]
    assert main(["worklist", *dataset, "--top", "3", "--by", "Ann", "--json"]) == 0
    first = [case["household"] for case in told(capsys)["cases"]]
    assert len(first) == 3
    arguments = ["worklist", *dataset, "--flag", f"{first[0]}=fault", "--flag", f"{first[1]}=fine"]
    arguments += ["--note", "seen", "--price", "0.3", "--out", str(out), "--case-file", str(cases)]
    assert main([*arguments, "--more-like", "fault", "--json"]) == 0
    result = told(capsys)
    assert result["counts"] == {"open": 1, "fault": 1, "fine": 1}
    assert result["precision"][-1] | {"low": 0, "high": 0} == {
        "detector": "all", "looked": 2, "hits": 1, "precision": 0.5, "low": 0, "high": 0
    }  # fmt: skip
    assert len(result["more_like"]["households"]) == 20
    table = pd.read_csv(out)
    assert {"reason", "q", "since", "money_per_year", "note", "history", "dwelling"} <= set(table)
    assert cases.read_bytes().startswith(b"%PDF")
    assert main(["worklist", *dataset, "--more-like", ",".join(first)]) == 0
    text = capsys.readouterr().out
    assert "right so far" in text
    assert "in common:" in text


def test_two_peoples_lists_become_one(demo_path, tmp_path, capsys):
    from core.readings import Dataset

    one, two = Dataset.open(demo_path).households["household"][:2]
    for name, household in (("ann", one), ("bo", two)):
        path = tmp_path / f"{name}.json"
        assert main(["worklist", str(path), str(demo_path), "--flag", f"{household}=theft"]) == 0
    capsys.readouterr()
    arguments = ["worklist", str(tmp_path / "ann.json"), "--merge", str(tmp_path / "bo.json")]
    assert main([*arguments, "--json"]) == 0
    assert told(capsys)["counts"] == {"theft": 2}
    assert main(["worklist", str(tmp_path / "ann.json"), "--remove", one, "--json"]) == 0
    assert told(capsys)["counts"] == {"theft": 1}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--flag", "a=fault"], "--flag needs the dataset"),
        (["--case-file", "x.pdf"], "--case-file needs the dataset"),
        (["--more-like", "fault"], "--more-like needs the dataset"),
        (["--merge", "none.json"], "none.json cannot be read as a worklist"),
        (["--remove", "a"], "'a' is not on the worklist"),
        (["--case-file", "x.txt"], "--case-file x.txt must end in"),
    ],
)
def test_bad_input_is_said_and_no_file_is_made(tmp_path, capsys, monkeypatch, more, message):
    monkeypatch.chdir(tmp_path)
    assert main(["worklist", "list.json", *more]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_list_of_another_dataset(demo_path, tmp_path, capsys):
    from core.worklist import Worklist

    Worklist(dataset="other").flag("a").save(tmp_path / "list.json")
    assert main(["worklist", str(tmp_path / "list.json"), str(demo_path)]) == 2
    assert "belongs to another dataset" in capsys.readouterr().err
    assert main(["worklist", str(tmp_path / "new.json"), str(demo_path), "--flag", "nobody"]) == 2
    assert "nobody" in capsys.readouterr().err
