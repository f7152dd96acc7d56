"""Loads a program of tools/, which has no .py suffix, as a module. Modules of tools/ are found."""

import importlib.machinery
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

TOOLS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOOLS))


def load_tool(name: str) -> ModuleType:
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader(f"tool_{name}", str(TOOLS / name))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[loader.name] = module
    loader.exec_module(module)
    return module
