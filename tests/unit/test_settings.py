"""Option, environment, file, default: in this order."""

import pytest

from synapse.errors import ConfigurationError
from synapse.settings import load_settings


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch, tmp_path):
    for name in ("URI", "HOST", "PORT", "USERNAME", "PASSWORD", "DATABASE"):
        monkeypatch.delenv(f"FALKORDB_{name}", raising=False)
    monkeypatch.delenv("SYNAPSE_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)


def test_defaults():
    settings = load_settings()
    assert settings.connection.address() == "redis://localhost:6379"
    assert settings.connection.database == "default_db"
    assert settings.hippocampus.forgetting.base_half_life_days == 7.0


def test_the_file_in_the_working_directory_is_read(tmp_path):
    (tmp_path / "synapse.toml").write_text(
        '[falkordb]\nhost = "db"\n[forgetting]\nbase_half_life_days = 14\n'
    )
    settings = load_settings()
    assert settings.connection.address() == "redis://db:6379"
    assert settings.hippocampus.forgetting.base_half_life_days == 14.0


def test_the_environment_beats_the_file(tmp_path, monkeypatch):
    (tmp_path / "synapse.toml").write_text(
        '[falkordb]\nhost = "db"\nport = 7000\n'
        "[forgetting]\nbase_half_life_days = 14\nsalience_boost = 1\n"
    )
    monkeypatch.setenv("FALKORDB_HOST", "other")
    monkeypatch.setenv("SYNAPSE_FORGETTING__BASE_HALF_LIFE_DAYS", "21")
    settings = load_settings()
    assert settings.connection.address() == "redis://other:7000"
    assert settings.hippocampus.forgetting.base_half_life_days == 21.0
    assert settings.hippocampus.forgetting.salience_boost == 1.0


def test_a_named_file_beats_the_one_in_the_working_directory(tmp_path, monkeypatch):
    (tmp_path / "synapse.toml").write_text("[pruning]\nthreshold = 0.1\n")
    other = tmp_path / "other.toml"
    other.write_text("[pruning]\nthreshold = 0.2\n")
    monkeypatch.setenv("SYNAPSE_CONFIG", str(other))
    assert load_settings().hippocampus.pruning.threshold == 0.2
    assert load_settings(tmp_path / "synapse.toml").hippocampus.pruning.threshold == 0.1


def test_the_uri_beats_host_and_port(monkeypatch):
    monkeypatch.setenv("FALKORDB_HOST", "db")
    monkeypatch.setenv("FALKORDB_URI", "unix:///run/falkor.sock")
    assert load_settings().connection.address() == "unix:///run/falkor.sock"


def test_the_port_that_kubernetes_sets_for_a_service_is_nobodys_choice(tmp_path, monkeypatch):
    monkeypatch.setenv("FALKORDB_PORT", "tcp://10.96.0.7:6379")
    monkeypatch.setenv("FALKORDB_SERVICE_HOST", "10.96.0.7")
    assert load_settings().connection.address() == "redis://localhost:6379"
    (tmp_path / "synapse.toml").write_text('[falkordb]\nhost = "db"\nport = 7000\n')
    assert load_settings().connection.address() == "redis://db:7000"
    monkeypatch.setenv("FALKORDB_PORT", "10.96.0.7:6379")
    with pytest.raises(ConfigurationError, match=r"falkordb\.port"):
        load_settings()


def test_a_password_is_quoted_into_the_address_and_never_shown(monkeypatch):
    monkeypatch.setenv("FALKORDB_PASSWORD", "p@ss/word")
    connection = load_settings().connection
    assert connection.address() == "redis://:p%40ss%2Fword@localhost:6379"
    assert "p@ss" not in repr(connection) + str(connection)


def test_all_violations_are_reported_together(tmp_path, monkeypatch):
    (tmp_path / "synapse.toml").write_text(
        "[pruning]\nthreshold = nan\n[forgeting]\nx = 1\n[falkordb]\nport = 99999\n"
    )
    monkeypatch.setenv("SYNAPSE_FORGETTING__BASE_HALF_LIFE_DAYS", "-1")
    with pytest.raises(ConfigurationError) as caught:
        load_settings()
    message = str(caught.value)
    for name in (
        "pruning.threshold",
        "forgeting",
        "falkordb.port",
        "forgetting.base_half_life_days",
    ):
        assert name in message


def test_salience_weights_must_add_up_to_one(tmp_path):
    (tmp_path / "synapse.toml").write_text("[salience]\nrecency_weight = 0.9\n")
    with pytest.raises(ConfigurationError, match=r"add up to 1, they add up to 1\.55"):
        load_settings()


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"[pruning", "not valid TOML"), (b"\xff\xfe", "not UTF-8 text")],
)
def test_a_broken_file_is_one_sentence(tmp_path, content, message):
    (tmp_path / "synapse.toml").write_bytes(content)
    with pytest.raises(ConfigurationError, match=message):
        load_settings()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (
            "[forgetting]\nbase_half_life_dayz = 1",
            "forgetting.base_half_life_dayz: there is no such setting; "
            "did you mean base_half_life_days?",
        ),
        ("[forgeting]", "forgeting: there is no such setting; did you mean forgetting?"),
        ("[falkordb]\nprt = 1", "falkordb.prt: there is no such setting; did you mean port?"),
        ("[xyz]", "xyz: there is no such setting"),
        ("[relations]\nsingle = 'LIVES_IN'", "relations.single: must be a list"),
        ("forgetting = 3", "forgetting: must be a section of its own"),
        ("[falkordb]\nport = 'x'", "falkordb.port: must be a valid integer"),
        ("[pruning]\nthreshold = 2", "pruning.threshold: must be less than or equal to 1"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_in_plain_words(tmp_path, content, says):
    (tmp_path / "synapse.toml").write_text(content)
    with pytest.raises(ConfigurationError) as refused:
        load_settings()
    assert str(refused.value) == f"wrong settings (environment or synapse.toml): {says}"


def test_a_list_in_the_environment_that_is_no_json_is_named(monkeypatch):
    monkeypatch.setenv("SYNAPSE_RELATIONS__SINGLE", "LIVES_IN")
    monkeypatch.setenv("SYNAPSE_PRUNING__THRESHOLD", "0.2")
    with pytest.raises(ConfigurationError) as refused:
        load_settings()
    assert str(refused.value) == (
        'SYNAPSE_RELATIONS__SINGLE cannot be understood; write a list as JSON, like ["LIVES_IN"]'
    )


def test_a_missing_named_file_is_an_error(tmp_path):
    with pytest.raises(ConfigurationError, match="cannot read the configuration file"):
        load_settings(tmp_path / "nosuch.toml")


def test_the_digest_names_the_constants(monkeypatch):
    before = load_settings().hippocampus.digest
    assert load_settings().hippocampus.digest == before
    monkeypatch.setenv("SYNAPSE_PRUNING__THRESHOLD", "0.06")
    assert load_settings().hippocampus.digest != before


@pytest.mark.parametrize(
    ("lists", "complaint"),
    [
        ('single = ["WORKS_AT"]\nmulti = ["WORKS_AT"]', "WORKS_AT stands in single and in multi"),
        ('single = ["WORKS_AT"]\nevent = ["worked at"]', "worked at is the relation WORKS_AT"),
        ('multi = ["wife"]\nevent = ["X", "MARRIED_TO"]', "MARRIED_TO is the relation wife"),
    ],
)
def test_a_relation_in_two_lists_is_an_error_that_names_it(tmp_path, lists, complaint):
    (tmp_path / "synapse.toml").write_text(f"[relations]\n{lists}\n")
    with pytest.raises(ConfigurationError) as caught:
        load_settings()
    assert f"relations: {complaint}" in str(caught.value)
    assert "Value error" not in str(caught.value)


def test_a_relation_may_stand_twice_in_one_list(tmp_path):
    (tmp_path / "synapse.toml").write_text('[relations]\nsingle = ["WORKS_AT", "works at"]\n')
    assert load_settings().hippocampus.relations.single == ("WORKS_AT", "works at")


def test_how_the_batch_is_run_stands_outside_of_any_section(tmp_path, monkeypatch):
    assert load_settings().hosting.interval_minutes == 360
    (tmp_path / "synapse.toml").write_text("consolidation_interval_hours = 1.51\n")
    before = load_settings()
    assert before.hosting.interval_minutes == 91
    monkeypatch.setenv("SYNAPSE_CONSOLIDATION_INTERVAL_HOURS", "24")
    monkeypatch.setenv("SYNAPSE_HEALTH_CHECK_URL", "https://hc.example/secret")
    after = load_settings()
    assert after.hosting.interval_minutes == 1440
    assert before.hippocampus.digest == after.hippocampus.digest, "no score depends on it"
    assert "secret" not in repr(after)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CONSOLIDATION_INTERVAL_HOURS", "0"),
        ("CONSOLIDATION_INTERVAL_HOURS", "nan"),
        ("CONSOLIDATION_INTERVAL_HOURS", "often"),
        ("HEALTH_CHECK_URL", "file:///etc/secret"),
    ],
)
def test_a_way_to_run_that_cannot_be_is_refused(monkeypatch, name, value):
    monkeypatch.setenv(f"SYNAPSE_{name}", value)
    with pytest.raises(ConfigurationError, match=name.lower()) as refused:
        load_settings()
    assert "secret" not in str(refused.value)
