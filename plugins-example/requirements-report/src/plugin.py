"""Lists which requirements of a Python project are pinned, loose, named twice or not understood."""

import re
from dataclasses import dataclass, field
from typing import Annotated, Literal

import moss

LINES_MAX = 10_000
REQUIREMENT = re.compile(
    r"^(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*"
    r"(?P<versions>(?:(?:===|==|~=|!=|<=|>=|<|>)\s*[^\s,;]+\s*,?\s*)*)(?:;.*)?$"
)


@dataclass
class Requirement:
    """A requirement and how firm it is."""

    line: Annotated[int, "Its line, from 1."]
    name: Annotated[str, "The package, in its normal form."]
    versions: Annotated[str, "Which versions fit; empty for any."]
    kind: Annotated[
        Literal["pinned", "bounded", "open"],
        "`pinned` to one version, `bounded` from above, or `open`.",
    ]


@dataclass
class Report:
    """What a requirements file says."""

    requirements: Annotated[list[Requirement], "The requirements, in their order."]
    doubled: Annotated[list[str], "Packages that are named more than once."]
    unread: Annotated[list[int], "Lines that this tool does not understand."] = field(
        default_factory=list
    )


@moss.tool(
    title="Report requirements",
    idempotent=True,
    examples=[
        moss.Example(
            "one of each kind",
            {"path": "requirements.txt"},
            files={
                "requirements.txt": "# web\nFlask==3.0.0\nrequests >= 2, < 3\nrich\nflask\n???\n"
            },
            output=Report(
                requirements=[
                    Requirement(2, "flask", "==3.0.0", "pinned"),
                    Requirement(3, "requests", ">=2,<3", "bounded"),
                    Requirement(4, "rich", "", "open"),
                    Requirement(5, "flask", "", "open"),
                ],
                doubled=["flask"],
                unread=[6],
            ),
        )
    ],
)
def requirements_report(path: str = "requirements.txt") -> Report:
    """Checks each requirement in a pip requirements file whether it is pinned, bounded or open.

    Also names packages that occur twice and lines that are not understood. Options and included files
    are left out. Up to 10,000 lines.

    Args:
        path: The file, relative to the workspace.
    """
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    if len(lines) > LINES_MAX:
        raise moss.ToolError("too-large", f"{path}: more than {LINES_MAX} lines")
    report = Report(requirements=[], doubled=[])
    for number, line in enumerate(lines, start=1):
        text = re.sub(r"(^|\s)#.*$", "", line).strip()
        if not text or text.startswith("-"):
            continue
        match = REQUIREMENT.match(text)
        if match is None:
            report.unread.append(number)
            continue
        name = re.sub(r"[-_.]+", "-", match["name"]).lower()
        versions = re.sub(r"\s", "", match["versions"])
        report.requirements.append(Requirement(number, name, versions, kind(versions)))
    names = [requirement.name for requirement in report.requirements]
    report.doubled = sorted({name for name in names if names.count(name) > 1})
    return report


def kind(versions: str) -> Literal["pinned", "bounded", "open"]:
    """How firm a list of versions is."""
    parts = versions.split(",")
    if any(part.startswith("==") and not part.endswith("*") for part in parts):
        return "pinned"
    return "bounded" if any(part.startswith(("<", "~=", "==")) for part in parts) else "open"


moss.plugin(
    tools=[requirements_report],
    requests=[moss.request.files(".", "reads the requirements file that is asked about")],
)
