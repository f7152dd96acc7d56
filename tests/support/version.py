"""The number of this version, which CMakeLists.txt sets."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
VERSION = re.search(r"project\(errand VERSION ([\d.]+)",
                    (ROOT / "CMakeLists.txt").read_text()).group(1)
