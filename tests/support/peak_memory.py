"""How much memory a process has needed for a while."""

MEGABYTE = 1024 * 1024
# The sanitizer keeps what was freed for a while, which hides how much is in use.
NO_QUARANTINE = {"ASAN_OPTIONS": "quarantine_size_mb=1"}


def memory_of(pid: int, what: str) -> int:
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        line = next(line for line in status if line.startswith(f"{what}:"))
    return int(line.split()[1]) * 1024


class PeakMemory:
    """Measures from now on."""

    def __init__(self, pid: int):
        self.pid = pid
        with open(f"/proc/{pid}/clear_refs", "w", encoding="ascii") as refs:
            refs.write("5")  # forgets the peak
        self.before = memory_of(pid, "VmRSS")

    def growth(self) -> int:
        return memory_of(self.pid, "VmHWM") - self.before
