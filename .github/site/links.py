"""The links of the site that lead out of docs/.

In the repository they are relative. On the site they lead to the repository, which is SITE_REPOSITORY, or the files on this machine.
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
    return "".join(part if index % 2 else OUTSIDE.sub(address, part) for index, part in enumerate(parts))
