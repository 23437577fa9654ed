import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ohmykb.config import Config, ConfigError, device_id, load, patch_settings, settings_dict
from ohmykb.errors import UsageError


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OHMYKB_HOME", str(tmp_path / "home"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    (folder / ".kb").mkdir(parents=True)
    return folder


def put(root: Path, text: str) -> Path:
    file = root / ".kb/config.toml"
    file.write_bytes(text.encode())
    return file


def put_local(text: str, mode: int = 0o600) -> Path:
    file = Path(os.environ["OHMYKB_HOME"], "config/config.toml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(mode)
    return file


def test_absent_means_defaults(tmp_path: Path) -> None:
    config = load(tmp_path)
    assert config == Config()
    assert (config.write.mode, config.write.device) == ("suggest", None)
    assert config.limit == 10_000_000
    assert settings_dict(config) == {
        "index": {
            "exclude": [],
            "search_only": [],
            "max_file_mb": 10,
            "settle_s": 10,
            "debounce_ms": 200,
        },
        "vault": {"follow_symlinks": False},
        "roles": {"raw": [], "wiki": [], "memory": [], "outputs": [], "system": []},
        "write": {"mode": "suggest", "device": None, "git": False},
        "agent": {"exclude": []},
        "suggest": {"exclude": []},
        "search": {
            "encoder": "bundled",
            "fine": "",
            "sentence_transformers": {"model": "paraphrase-multilingual-MiniLM-L12-v2"},
        },
    }


def test_everything_set(root: Path) -> None:
    put(
        root,
        """
        [index]
        exclude = ["归档/", "*.excalidraw.md"]
        search_only = ["clips/**"]
        max_file_mb = 0.5
        settle_s = 1
        debounce_ms = 50
        [vault]
        follow_symlinks = true
        [roles]
        raw = "raw/"
        wiki = ["wiki", "./知识/库"]
        [write]
        mode = "auto"
        device = "0a1b2c3d"
        [agent]
        exclude = ["private"]
        [search]
        encoder = "none"
        fine = "sentence-transformers"
        [search.sentence_transformers]
        model = " intfloat/multilingual-e5-base "
        of_a_later_version = 1
        """,
    )
    config = load(root)
    assert config.index.exclude == ("归档/", "*.excalidraw.md")
    assert config.limit == 500_000
    assert config.roles.raw == ("raw",)
    assert config.roles.wiki == ("wiki", "知识/库")
    assert config.write.mode == "auto"
    assert (config.search.encoder, config.search.fine) == ("none", "sentence-transformers")
    assert config.search.sentence_transformers.model == "intfloat/multilingual-e5-base"
    assert config.warnings == ()


@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_windows_line_ends_and_byte_order_mark(root: Path, start: str) -> None:
    put(root, start + '[write]\r\nmode = "off"\r\n')
    assert load(root).write.mode == "off"


def test_what_a_later_version_wrote_is_tolerated_and_named(root: Path) -> None:
    put(root, 'top = 1\n[index]\nnew_key = 1\n[future]\nx = 1\n[write]\nmode = "off"\n')
    config = load(root)
    assert config.write.mode == "off"
    assert [word for warning in config.warnings for word in warning.split("`")[1:2]] == [
        "top",
        "future",
        "index.new_key",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[index]\nmax_file_mb = true", ["index.max_file_mb", "a number from"]),
        ("[index]\nmax_file_mb = 0", ["index.max_file_mb"]),
        ("[index]\nmax_file_mb = inf", ["index.max_file_mb"]),
        ("[index]\nmax_file_mb = nan", ["index.max_file_mb"]),
        ("[index]\nsettle_s = -1", ["index.settle_s"]),
        ("[index]\ndebounce_ms = 1.5", ["index.debounce_ms", "whole number"]),
        ("[index]\ndebounce_ms = true", ["index.debounce_ms"]),
        ('[search]\nencoder = "e5-small"', ["search.encoder", '"bundled" or "none"']),
        ('[search]\nfine = "bundled"', ["search.fine", '"e5-small", "sentence-transformers" or "http"']),
        ("[search]\nfine = ['http']", ["search.fine"]),
        ("[search]\nsentence_transformers = 1", ["search.sentence_transformers", "a section"]),
        ("[search.sentence_transformers]\nmodel = ''", ["search.sentence_transformers", "a folder"]),
        ("[search.http]\napi_key = 'x'", ["search.http.api_key", "secret"]),
        ('[index]\nexclude = "archive"', ["index.exclude", "list of globs"]),
        ("[index]\nexclude = [1]", ["index.exclude", "list of globs"]),
        ('[index]\nexclude = ["a["]', ["index.exclude", "'a['"]),
        ('[index]\nexclude = ["a//b"]', ["index.exclude", "empty part"]),
        ('[index]\nexclude = ["/"]', ["index.exclude", "names nothing"]),
        ('[agent]\nexclude = ["a\\\\"]', ["agent.exclude", "backslash"]),
        ('[vault]\nfollow_symlinks = "yes"', ["vault.follow_symlinks", "true or false"]),
        ("[roles]\nraw = 1", ["roles.raw", "folder"]),
        ("[roles]\nraw = [[]]", ["roles.raw", "folder"]),
        ('[roles]\nraw = "../x"', ["roles.raw", "folder"]),
        ('[roles]\nraw = "/etc"', ["roles.raw", "folder"]),
        ('[roles]\nsystem = "."', ["roles.system", "folder"]),
        ('[roles]\nsystem = ""', ["roles.system", "folder"]),
        ('[write]\nmode = "always"', ["write.mode", '"suggest"']),
        ("[write]\nmode = false", ["write.mode"]),
        ('[write]\ndevice = " "', ["write.device"]),
        ("write = 1", ["`write`", "[write]"]),
        ("[write]\nmode = off", ["not valid TOML", "line 2"]),
    ],
)
def test_wrong_values_name_file_key_and_what_is_expected(root: Path, text: str, words: list[str]) -> None:
    file = put(root, text)
    with pytest.raises(ConfigError) as caught:
        load(root)
    for word in [*words, str(file)]:
        assert word in caught.value.message
    assert caught.value.fix


def test_not_utf8(root: Path) -> None:
    (root / ".kb/config.toml").write_bytes(b"# caf\xe9\n")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load(root)


def test_a_folder_in_its_place(root: Path) -> None:
    (root / ".kb/config.toml").mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        load(root)


@pytest.mark.parametrize(
    "text",
    [
        '[chat]\napi_key = "sk-1"',
        '[chat]\napiKey = "sk-1"',
        '[chat.deep.er]\nOPENAI_API_KEY = "sk-1"',
        'token = "sk-1"',
        '[feishu]\napp_secret = "sk-1"',
        '[db]\npassword = "sk-1"',
        '[[chat]]\nsecret = "sk-1"',
    ],
)
def test_a_secret_in_the_vault_is_refused_and_not_repeated(root: Path, text: str) -> None:
    put(root, text)
    with pytest.raises(ConfigError, match="holds a secret") as caught:
        load(root)
    assert "sk-1" not in caught.value.message + caught.value.fix
    with pytest.raises(ConfigError, match="holds a secret"):
        patch_settings(root, {"write": {"mode": "off"}})


def test_keys_that_only_look_like_secrets(root: Path) -> None:
    put(root, "[chat]\nmax_tokens = 5\nkeyboard = 1\n")
    assert len(load(root).warnings) == 1


def test_local_settings_come_from_the_environment_first(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_local('[chat]\napi_key = "from file"\nendpoint = "http://x"\n')
    monkeypatch.setenv("OHMYKB_CHAT_API_KEY", "from environment")
    config = load(root)
    assert config.local.get("chat", "api_key") == "from environment"
    assert config.local.get("chat", "endpoint") == "http://x"
    assert config.local.get("chat", "model") is None
    assert config.local.get("other", "x") is None
    assert config.warnings == ()
    assert "from file" not in repr(config)
    assert "chat" not in settings_dict(config)


@pytest.mark.skipif(sys.platform == "win32", reason="modes mean nothing on Windows")
def test_keys_that_others_can_read_are_warned_of(root: Path) -> None:
    file = put_local('[chat]\napi_key = "x"\n', mode=0o644)
    (warning,) = load(root).warnings
    assert f"chmod 600 {file}" in warning


def test_patch_keeps_comments_order_and_what_is_not_known(root: Path) -> None:
    file = put(
        root,
        "# mine\n[future]\nx = 1 # keep\n\n[write]\n# why\nmode = 'off' # tail\n\n[index]\nexclude = ['a']\n",
    )
    file.chmod(0o640)
    patch = {"write": {"mode": "auto", "device": "0a1b2c3d"}, "agent": {"exclude": ["p"]}}
    config = patch_settings(root, patch)
    assert config == load(root)
    assert (config.write.mode, config.write.device) == ("auto", "0a1b2c3d")
    assert file.read_text() == (
        '# mine\n[future]\nx = 1 # keep\n\n[write]\n# why\nmode = "auto" # tail\ndevice = "0a1b2c3d"\n\n'
        "[index]\nexclude = ['a']\n\n[agent]\nexclude = [\"p\"]\n"
    )
    if sys.platform != "win32":
        assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [child.name for child in file.parent.iterdir()] == ["config.toml"]


def test_patch_of_a_section_within_a_section(root: Path) -> None:
    file = put(root, '[search]\nfine = ""\n[search.sentence_transformers] # mine\nmodel = "a" # why\nx = 1\n')
    patch = {"search": {"fine": "sentence-transformers", "sentence_transformers": {"model": "b/c"}}}
    config = patch_settings(root, patch)
    assert config.search.sentence_transformers.model == "b/c"
    assert settings_dict(config)["search"]["sentence_transformers"] == {"model": "b/c"}
    assert file.read_text() == (
        '[search]\nfine = "sentence-transformers"\n[search.sentence_transformers] # mine\nmodel = "b/c" # why\nx = 1\n'
    )
    assert patch_settings(root, {"search": {"sentence_transformers": None, "fine": None}}) == Config()
    assert patch_settings(root, {"search": {"sentence_transformers": {"model": "d"}}}).search.fine == ""
    assert "[search.sentence_transformers]" in file.read_text()


def test_patch_makes_the_file_and_takes_back(tmp_path: Path) -> None:
    assert patch_settings(tmp_path, {"roles": {"raw": ["raw"]}}).roles.raw == ("raw",)
    assert patch_settings(tmp_path, {"roles": {"raw": None}}).roles.raw == ()
    assert patch_settings(tmp_path, {"write": {"device": None}}) == Config()


@pytest.mark.parametrize(
    ("patch", "word"),
    [
        ({"write": {"mode": "always"}}, "write.mode"),
        ({"write": {"nothing": 1}}, "write.nothing"),
        ({"nothing": {}}, "nothing"),
        ({"write": 1}, "write"),
        ({"index": {"exclude": ["["]}}, "index.exclude"),
        ({"write": {"mode": "off"}, "index": {"settle_s": "x"}}, "index.settle_s"),
    ],
)
def test_a_wrong_patch_changes_nothing(root: Path, patch: dict[str, Any], word: str) -> None:
    file = put(root, "[write]\nmode = 'suggest'\n")
    before = file.read_bytes()
    with pytest.raises(UsageError, match=word):
        patch_settings(root, patch)
    assert file.read_bytes() == before


def test_patch_of_a_broken_file_leaves_it(root: Path) -> None:
    file = put(root, "[write\n")
    with pytest.raises(ConfigError, match="not valid TOML"):
        patch_settings(root, {"write": {"mode": "off"}})
    assert file.read_text() == "[write\n"


def test_patch_through_a_link_keeps_the_link(root: Path) -> None:
    real = root / "dotfiles.toml"
    real.write_text("[write]\nmode = 'off'\n")
    (root / ".kb/config.toml").symlink_to(real)
    patch_settings(root, {"write": {"mode": "auto"}})
    assert (root / ".kb/config.toml").is_symlink()
    assert "auto" in real.read_text()


def test_patch_through_a_link_out_of_the_vault_is_refused(root: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    real = tmp_path / "out" / "settings.toml"
    real.write_text("[write]\nmode = 'off'\n")
    (root / ".kb/config.toml").symlink_to(real)
    with pytest.raises(ConfigError, match="leads out of the vault"):
        patch_settings(root, {"write": {"mode": "auto"}})
    assert real.read_text() == "[write]\nmode = 'off'\n"


def test_patch_keeps_windows_line_ends(root: Path) -> None:
    file = put(root, "# a\r\n[write]\r\nmode = 'off'\r\n")
    patch_settings(root, {"write": {"mode": "auto"}})
    assert file.read_bytes() == b'# a\r\n[write]\r\nmode = "auto"\r\n'


def test_device_id_is_made_once() -> None:
    first = device_id()
    assert len(first) == 8
    assert int(first, 16) >= 0
    assert device_id() == first
    file = Path(os.environ["OHMYKB_HOME"], "config/device")
    if sys.platform != "win32":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [child.name for child in file.parent.iterdir()] == ["device"]


def test_processes_that_start_together_agree_on_the_device_id() -> None:
    code = "from ohmykb.config import device_id; print(device_id())"
    running = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(4)]
    assert len({process.communicate()[0] for process in running}) == 1


def test_a_spoilt_device_file_is_said() -> None:
    device_id()
    Path(os.environ["OHMYKB_HOME"], "config/device").write_text("nonsense")
    with pytest.raises(ConfigError, match="8 hex"):
        device_id()


def test_importing_config_is_light() -> None:
    code = "import sys, ohmykb.config; print({'tomllib', 'tomlkit', 'json'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"
