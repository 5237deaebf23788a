"""Makes a component of a plugin: asks it what it is, then builds it with what it needs.

Run it in the plugin's directory with a Python that has componentize-py; the component is written to
`dist/NAME.wasm`. The plugin's main file is `plugin.py` in `src/`.
"""

import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:
    sys.exit("error: plugins in Python need Python 3.11 or newer to be built")

SDK = Path(__file__).parent
DESCRIBE = """
import json, sys
from entry import Tools
print(json.dumps([request.kind for request in Tools().describe().capabilities]))
"""


def main() -> None:
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    name, version = project["name"], project["version"]
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        entry = f"import plugin\nfrom moss.plugin import named\nTools = named({name!r}, {version!r})\n"
        (work / "entry.py").write_text(entry, encoding="utf-8")
        paths = [str(work), "src", str(SDK), *packages()]
        kinds = described(work, paths)
        world = "guest-http" if '"http"' in kinds else "guest"
        component = Path("dist") / f"{name}.wasm"
        component.parent.mkdir(exist_ok=True)
        componentize(world, "componentize", "entry", "-o", str(component), *flags("-p", paths))


def described(work: Path, paths: list[str]) -> str:
    """Asks the plugin what it is: here, where its mistakes have a trace. Moss answers nothing."""
    bindings = work / "bindings"
    componentize("guest-http", "bindings", str(bindings))
    code = f"import sys; sys.path[:0] = {[str(bindings), *paths]!r}\n{DESCRIBE}"
    run = subprocess.run([sys.executable, "-B", "-c", code], stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit("error: the plugin cannot be loaded: its mistake is shown above")
    return run.stdout


def packages() -> list[str]:
    """Where the packages are that the plugin depends on; only those in pure Python work."""
    return [sysconfig.get_path("purelib")]


def componentize(world: str, *arguments: str) -> None:
    program = shutil.which("componentize-py", path=str(Path(sys.executable).parent))
    if program is None:
        sys.exit("error: there is no componentize-py: `pip install -r requirements.txt`")
    # Two packages have an interface `types`; each gets a name of its own.
    names = ["moss:plugin/types@0.2.0=types"]
    if world == "guest-http":
        names.append("wasi:http/types@0.2.6=http_types")
    options = ["-q", "-d", str(SDK / "wit"), "-w", world]
    command = [program, *options, *flags("--import-interface-name", names), *arguments]
    ended = subprocess.run(command)
    if ended.returncode != 0:
        sys.exit(ended.returncode)


def flags(name: str, values: list[str]) -> list[str]:
    return [word for value in values for word in (name, value)]


if __name__ == "__main__":
    main()
