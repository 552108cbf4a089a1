"""Turns Markdown for GitHub into Markdown for the site.

Links out of docs/ are relative in the repository. On the site they lead to the repository, which is SITE_REPOSITORY, or to files on
this machine. Callouts (> [!WARNING]) become admonitions. Bold titles between <!-- tabs --> and <!-- /tabs --> become tabs.
"""

import logging
import os
import re
from pathlib import Path

from mkdocs.structure.nav import Link

ROOT = Path(__file__).resolve().parents[2]

REPOSITORY = os.environ.get("SITE_REPOSITORY", ROOT.as_uri()).rstrip("/")

FENCE = re.compile(r"(?ms)^(```.*?^```$)")

OUTSIDE = re.compile(r"(?<=\]\()(\.\./[^)\s#]+)(#[^)\s]*)?(?=\))")

CALLOUT = re.compile(r"> \[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*")

ADMONITIONS = {"IMPORTANT": "info", "CAUTION": "danger"}

TABS = re.compile(r"(?ms)^<!-- tabs -->$(.*?)^<!-- /tabs -->$")

TAB = re.compile(r"\*\*([^*]+)\*\*")

# Below the logger whose warnings "mkdocs build --strict" counts.
log = logging.getLogger("mkdocs.hooks.links")


def on_config(config):
    if REPOSITORY.startswith("https:"):
        config["repo_url"] = REPOSITORY
        config["repo_name"] = "Source"
    return config


def on_nav(nav, **_):
    # Not in mkdocs.yml: what is named there must be in docs/, and the Javadoc is made elsewhere.
    nav.items.append(Link("API (Javadoc)", "api/index.html"))
    return nav


def on_page_markdown(markdown, page, config, **_):
    folder = Path(config["docs_dir"], page.file.src_path).parent

    def address(link):
        target = (folder / link.group(1)).resolve()
        if ROOT not in target.parents or not target.exists():
            log.warning("%s links to %s, which is not there", page.file.src_path, link.group(1))
            return link.group(0)
        kind = "" if REPOSITORY.startswith("file:") else "/tree/main" if target.is_dir() else "/blob/main"
        return f"{REPOSITORY}{kind}/{target.relative_to(ROOT).as_posix()}{link.group(2) or ''}"

    # Every second part is a block of code and stays as it is.
    parts = FENCE.split(markdown)
    linked = "".join(part if index % 2 else OUTSIDE.sub(address, part) for index, part in enumerate(parts))
    return TABS.sub(lambda tabs: tabbed(tabs.group(1)), callouts(linked))


def callouts(markdown):
    lines, code, callout = [], False, False
    for line in markdown.split("\n"):
        code = code != line.startswith("```")
        start = None if code else CALLOUT.fullmatch(line)
        if start:
            callout = True
            kind = start.group(1)
            lines += [f"!!! {ADMONITIONS.get(kind, kind.lower())}", ""]
        elif callout and line.startswith(">"):
            lines.append("    " + line[1:].lstrip())
        else:
            callout = False
            lines.append(line)
    return "\n".join(lines)


def tabbed(markdown):
    lines, code = [], False
    for line in markdown.split("\n"):
        code = code != line.startswith("```")
        title = None if code else TAB.fullmatch(line)
        lines.append(f'=== "{title.group(1)}"' if title else "    " + line if line else line)
    return "\n".join(lines)
