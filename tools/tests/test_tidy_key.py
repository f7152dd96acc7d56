import tempfile
import unittest
from pathlib import Path

import loading  # for the path of tools/
import tidy_key

BASE = """#pragma once
#define BASE_CHECK(x) base::check(x)
namespace errand::base {
// A point.
struct Point {
  int x = 0;
};
Point origin();
inline int twice(int value) { return value + value; }
}  // namespace errand::base
"""
FILES = {
    "src/base/base.hpp": BASE,
    "src/base/base.cpp": '#include "base/base.hpp"\n',
    "src/run/run.hpp": '#include "base/base.hpp"\nnamespace errand {\nbase::Point start();\n}\n',
    "src/run/run.cpp": '#include "run/run.hpp"\nint main() { return errand::start().x; }\n',
    "src/run/other.cpp": '#include "base/base.hpp"\nint main() { return base::twice(2); }\n',
}


class Clone:
    """A tree of files, whose keys are computed anew each time."""

    def __init__(self, root: Path):
        self.root = root
        self.files = dict(FILES)

    def keys(self, settings: str = "", flags: str = "") -> dict[str, str]:
        for name, text in self.files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        units = []
        for name in sorted(name for name in self.files if name.endswith(".cpp")):
            unit = tidy_key.Unit(self.root / name)
            unit.add({"directory": str(self.root), "command":
                      f"clang++ -I{self.root}/src {flags} -o {name}.o -c {self.root}/{name}"},
                     self.root)
            units.append(unit)
        keys = tidy_key.Tree(self.root).keys(units, settings)
        return {path.name: key for path, key in keys.items()}


class KeyTest(unittest.TestCase):
    def clone(self) -> Clone:
        folder = tempfile.TemporaryDirectory(prefix="errand-test-")
        self.addCleanup(folder.cleanup)
        return Clone(Path(folder.name).resolve())

    def changed_by(self, name: str, old: str, new: str) -> list[str]:
        """The files whose key is another one after a replacement in one file."""
        clone = self.clone()
        before = clone.keys()
        self.assertIn(old, clone.files[name])
        clone.files[name] = clone.files[name].replace(old, new)
        after = clone.keys()
        return [name for name in sorted(before) if before[name] != after[name]]

    def test_all_clones_have_the_same_keys(self):
        self.assertEqual(self.clone().keys(), self.clone().keys())

    def test_settings_and_flags_change_every_key(self):
        clone = self.clone()
        plain = set(clone.keys().values())
        self.assertEqual(plain & set(clone.keys(settings="other").values()), set())
        self.assertEqual(plain & set(clone.keys(flags="-DX").values()), set())

    def test_a_comment_and_a_blank_line_change_no_key(self):
        self.assertEqual(self.changed_by("src/base/base.hpp", "// A point.", "\n// Two numbers."),
                         [])

    def test_a_comment_that_clang_tidy_reads_changes_the_key(self):
        self.assertEqual(self.changed_by("src/run/other.cpp", "twice(2)", "twice(/*value=*/2)"),
                         ["other.cpp"])
        self.assertEqual(self.changed_by("src/run/other.cpp", "2); }", "2); }  // NOLINT"),
                         ["other.cpp"])

    def test_a_new_declaration_counts_for_the_file_that_stands_for_the_header(self):
        self.assertEqual(
            self.changed_by("src/base/base.hpp", "Point origin();", "Point origin();\nint more();"),
            ["base.cpp"])

    def test_a_declaration_counts_for_those_who_name_it(self):
        self.assertEqual(self.changed_by("src/base/base.hpp", "value + value", "2 * value"),
                         ["base.cpp", "other.cpp"])

    def test_a_declaration_counts_for_those_who_name_it_by_way_of_another(self):
        self.assertEqual(self.changed_by("src/base/base.hpp", "int x = 0", "long x = 0"),
                         ["base.cpp", "run.cpp"])

    def test_an_overload_counts_for_those_who_name_the_function(self):
        self.assertEqual(
            self.changed_by("src/base/base.hpp", "Point origin();", "void twice(Point p);"),
            ["base.cpp", "other.cpp"])

    def test_an_operator_and_a_specialization_count_for_all_who_see_the_header(self):
        everyone = ["base.cpp", "other.cpp", "run.cpp"]
        for added in ("bool operator==(Point a, Point b);", "template <> struct Box<Point> {};",
                      "using namespace std;", "void swap(Point& a, Point& b);"):
            self.assertEqual(
                self.changed_by("src/base/base.hpp", "Point origin();", added), everyone)

    def test_indentation_counts(self):
        self.assertEqual(self.changed_by("src/run/other.cpp", "int main", "  int main"),
                         ["other.cpp"])

    def test_a_file_that_changes_after_its_key_was_made_is_noticed(self):
        clone = self.clone()
        clone.keys()
        tree = tidy_key.Tree(clone.root)
        unit = tidy_key.Unit(clone.root / "src/run/other.cpp", [], (clone.root / "src",))
        tree.keys([unit], "")
        self.assertTrue(tree.is_unchanged(unit))
        header = clone.root / "src/base/base.hpp"
        header.write_text(BASE + "int more();\n")
        self.assertFalse(tree.is_unchanged(unit))


class DeclarationsTest(unittest.TestCase):
    def names(self, text: str) -> list[set[str] | None]:
        pieces = tidy_key.declarations(tidy_key.without_comments(text))
        return [piece.gives and set(piece.gives) for piece in pieces]

    def test_types_functions_variables_and_aliases_have_names(self):
        self.assertEqual(self.names("""
namespace a {
class Fast;
class [[nodiscard]] Slow final : public Fast { int f() { return 1; } };
enum class Color { red };
enum Plain { up, down };
template <class T> struct Box { template <class U> void put(U); };
std::vector<std::function<void(int)>> make(int count = 3, Box<int> box = {});
inline constexpr int kMax{3};
inline const std::string kName = "a; b";
using Name = std::string;
using b::c;
void Slow::run() {}
Slow::Slow() : a_{1}, b_{2} { start(); }
}
"""), [{"Fast"}, {"Slow"}, {"Color"}, {"Plain", "up", "down"}, {"Box"}, {"make"}, {"kMax"},
            {"kName"}, {"Name"}, {"c"}, {"Slow", "run"}, {"Slow"}])

    def test_what_has_no_certain_name_counts_for_all(self):
        self.assertEqual(self.names("""
#include "a.hpp"
template <> struct Box<int> {};
template <class T> struct Box<T*> {};
template <class T> requires(sizeof(T) > 1) void f(T);
SOME_MACRO(x);
decltype(a) b;
struct { int x; } nameless;
bool operator<(A, B);
"""), [None] * 8)

    def test_a_macro_is_a_declaration_with_its_continuations(self):
        self.assertEqual(self.names("#define TWO(x) \\\n  one(x); \\\n  one(x)\nint a;\n"),
                         [{"TWO"}, {"a"}])


if __name__ == "__main__":
    unittest.main()
