import contextlib
import io
import subprocess
import tempfile
import unittest
from pathlib import Path

from loading import load_tool

mutate = load_tool("mutate")
TEXT = "if (a < b) return true;\n"


def mutants_of(text: str):
    return mutate.mutants("src/agent/a.cpp", text)


class Programs:
    """Stands in for the copy: builds and runs nothing, and answers as it is told."""

    def __init__(self, folder: Path, builds=True, **codes: int):
        self.folder = folder
        self.builds = builds
        self.codes = codes
        self.ran: list[str] = []
        self.seen: list[str] = []

    def build(self, programs, **_):
        self.seen.append((self.folder / "src/agent/a.cpp").read_text())
        return (0 if self.builds else 1), ""

    def run(self, program, seconds_max):
        self.ran.append(program)
        return self.codes.get(program, 0), ""


class FolderCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="errand-test-")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)


class TrialTest(FolderCase):
    def outcome(self, **answers) -> str:
        self.path = self.root / "src/agent/a.cpp"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(TEXT)
        self.programs = Programs(self.root, **answers)
        trial = mutate.Trial(self.programs)
        trial.seconds_max = {"agent_test": 1, "engine_test": 1}
        return trial.try_one(mutants_of(TEXT)[0])

    def test_the_tests_of_the_folder_run_first_and_then_those_above(self):
        self.assertEqual(self.outcome(), "survived")
        self.assertEqual(self.programs.ran, ["agent_test", "engine_test"])

    def test_the_first_failure_kills(self):
        self.assertEqual(self.outcome(agent_test=1), "killed")
        self.assertEqual(self.programs.ran, ["agent_test"])

    def test_a_program_that_takes_too_long_kills(self):
        self.assertEqual(self.outcome(engine_test=-14), "killed")

    def test_a_mutant_that_does_not_compile_is_told_apart(self):
        self.assertEqual(self.outcome(builds=False), "not compiled")

    def test_the_file_is_changed_for_the_build_and_put_back(self):
        self.outcome()
        mutant = mutants_of(TEXT)[0].apply(TEXT)
        self.assertEqual(self.programs.seen, [mutate.QUIET + mutant] * 2)
        self.assertEqual(self.path.read_text(), TEXT)


class ReportTest(unittest.TestCase):
    def setUp(self):
        self.mutants = mutants_of(TEXT)
        self.results = mutate.Results(seed=7, wanted=2)

    def report(self, outcomes: list[str], accepted=()) -> list[str]:
        """The lines that are printed, without seconds."""

        class Told:
            def try_one(self, mutant):
                return outcomes.pop(0)

        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            mutate.try_all(Told(), self.mutants, dict.fromkeys(accepted, "why"), self.results)
        return [line.rsplit(",", 1)[0] for line in printed.getvalue().splitlines()]

    def test_survivors_are_named(self):
        was = "src/agent/a.cpp:1: if (a < b) return true; ->"
        self.assertEqual(self.report(["killed", "survived"]), [
            f"{was} (nothing): killed", f"{was} if (a <= b) return true;: survived"])
        self.assertEqual(self.results.summary(), "mutate: 2 tried, 1 killed, 1 survived; seed 7")
        self.assertEqual(self.results.report(), {
            "seed": 7, "tried": 2, "killed": 1, "notCompiled": 0, "accepted": [],
            "survivors": [f"{was} if (a <= b) return true;"]})

    def test_what_does_not_compile_is_made_up_for_by_another(self):
        self.report(["not compiled", "killed", "killed"])
        self.assertEqual(self.results.summary(), "mutate: 2 tried, 2 killed, 0 survived, "
                         "1 more did not compile; seed 7")

    def test_an_accepted_survivor_is_no_failure(self):
        self.report(["survived", "killed"], accepted=[self.mutants[0].identity()])
        self.assertEqual(self.results.survivors, [])
        self.assertEqual(self.results.summary(),
                         "mutate: 2 tried, 1 killed, 0 survived, 1 accepted; seed 7")


class CopyTest(FolderCase):
    def setUp(self):
        super().setUp()
        subprocess.run(["git", "init", "-q", self.root], check=True)
        self.write("CMakeLists.txt", "one")
        self.write("src/a.cpp", "a")
        self.write("docs/a.md", "not copied")
        self.copy = mutate.Copy(self.root, self.root / "build" / "mutate")
        self.write(".gitignore", "/build/\n")
        self.copy.update()

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def files(self) -> dict[str, str]:
        return {path.relative_to(self.copy.folder).as_posix(): path.read_text()
                for path in self.copy.folder.rglob("*") if path.is_file()}

    def test_the_copy_has_what_the_build_needs_committed_or_not(self):
        self.assertEqual(self.files(), {"CMakeLists.txt": "one", "src/a.cpp": "a"})

    def test_an_update_brings_changes_and_removes_what_is_gone(self):
        (self.root / "src/a.cpp").unlink()
        self.write("src/b.cpp", "b")
        self.write("CMakeLists.txt", "two")
        (self.copy.folder / "build").mkdir()
        (self.copy.folder / "build/built").write_text("")
        self.copy.update()
        self.assertEqual(self.files(), {"CMakeLists.txt": "two", "src/b.cpp": "b",
                                        "build/built": ""})

    def test_a_file_that_is_the_same_keeps_its_time(self):
        before = (self.copy.folder / "src/a.cpp").stat().st_mtime_ns
        self.write("src/a.cpp", "a")
        self.copy.update()
        self.assertEqual((self.copy.folder / "src/a.cpp").stat().st_mtime_ns, before)


class ProgramsTest(unittest.TestCase):
    def test_every_source_has_tests(self):
        names = mutate.sources(mutate.ROOT)
        self.assertIn("src/agent/fold/state.cpp", names)
        self.assertEqual([name for name in names if not mutate.programs_for(name)], [])
        self.assertEqual([name for name in names if name.endswith("_test.cpp")], [])

    def test_the_most_special_folder_counts(self):
        self.assertEqual(mutate.programs_for("src/store/sqlite/file/x.cpp"),
                         ("store_sqlite_test",))
        self.assertEqual(mutate.programs_for("src/store/memory/x.cpp")[0], "store_test")

    def test_what_is_accepted_has_reasons(self):
        mutate.read_accepted(mutate.ACCEPTED.read_text())


if __name__ == "__main__":
    unittest.main()
