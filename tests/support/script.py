"""Scripts for the scripted model, and configuration files that name them."""

import json
from pathlib import Path

DEFAULT_MODEL = "scripted"


def turn(*text: str, calls=(), **others) -> dict:
    """A turn of the scripted model: pieces of text, then calls as (name, arguments)."""
    made = {"text": list(text)} | others
    if calls:
        made["toolCalls"] = [{"name": name, "args": args} for name, args in calls]
    return made


def local_tool(name: str, **parameters: str) -> dict:
    """A tool that the client answers; `parameters` are names with their JSON types."""
    properties = {key: {"type": kind} for key, kind in parameters.items()}
    return {"kind": "local", "name": name, "description": f"The tool {name}.",
            "parameters": {"type": "object", "properties": properties}}


def write_config(folder: Path, scripts: dict[str, list[dict]], extra: dict | None = None) -> Path:
    """Writes a script file per model and the configuration. The first model is the default."""
    models = []
    for name, turns in scripts.items():
        (folder / f"{name}.json").write_text(json.dumps({"turns": turns}))
        models.append({"id": name, "provider": "scripted", "script": f"{name}.json"})
    config = {"models": models, "defaultModel": next(iter(scripts))} | (extra or {})
    path = folder / "config.json"
    path.write_text(json.dumps(config, indent=2))
    return path
