import tempfile
import unittest
from pathlib import Path

from loading import load_tool

check_style = load_tool("check_style")


def function_of(lines: int) -> str:
    """A C++ function that is `lines` long from its name to its brace."""
    return "void f() {\n" + "  g();\n" * (lines - 2) + "}\n"


class CheckStyleTest(unittest.TestCase):
    def problems(self, files: dict[str, str], with_readmes: bool = True) -> list[str]:
        """What the check says about a tree of these files."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name, text in files.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
                if with_readmes and name.startswith(("src/", "include/")):
                    (path.parent / "README.md").write_text("# it\n")
            return [str(problem) for problem in sorted(check_style.check_tree(root))]

    def test_a_file_over_500_lines_explains_itself_and_one_over_800_fails(self):
        self.assertEqual(
            self.problems({
                "src/a/short.cpp": "int a;\n" * 500,
                "src/a/long.cpp": "int a;\n" * 501,
                "src/a/reason.cpp": "// Long because it is a table.\n" + "int a;\n" * 600,
                "src/a/huge.cpp": "// Long because it is a table.\n" + "int a;\n" * 800,
            }),
            [
                "src/a/huge.cpp:1: file-length: 801 lines, 800 at most",
                "src/a/long.cpp:1: file-length: 501 lines: over 500 needs a comment "
                "`Long because ...`",
            ],
        )

    def test_a_function_over_70_lines_fails(self):
        self.assertEqual(
            self.problems({
                "src/a/fits.cpp": "namespace a {\n" + function_of(70) + "}\n",
                "src/a/long.cpp": "namespace a {\n\n" + function_of(71) + "}\n",
            }),
            ["src/a/long.cpp:3: function-length: 71 lines, 70 at most"],
        )

    def test_types_and_tables_are_not_functions(self):
        body = "  int a = f(1);\n" * 80
        self.assertEqual(
            self.problems({
                "src/a/type.cpp": "class A final : public B {\n public:\n" + body + "};\n",
                "src/a/enum.cpp": "enum class E : int {\n" + "  a,\n" * 80 + "};\n",
                "src/a/table.cpp": "constexpr int kTable[] = {\n" + "  1,\n" * 80 + "};\n",
            }),
            [],
        )

    def test_a_member_function_counts_from_its_name_over_its_initialisers(self):
        text = (
            "class A {\n"
            " public:\n"
            "  A(int x)\n"
            "      : a_{x}, b_(x) {\n" + "    g();\n" * 80 + "  }\n"
            "};\n"
        )
        self.assertEqual(
            self.problems({"src/a/a.cpp": text}),
            ["src/a/a.cpp:3: function-length: 83 lines, 70 at most"],
        )

    def test_braces_in_strings_characters_comments_and_macros_do_not_count(self):
        text = (
            "#define OPEN \\\n  {\n"
            'const char* a() { return "{"; }\n'
            "char b() { return '{'; }  // {\n"
            'const char* c() { return R"({)"; }\n'
            "int d() { return 1'000; }\n" + "int x;\n" * 80
        )
        self.assertEqual(self.problems({"src/a/a.cpp": text}), [])

    def test_a_python_function_over_70_lines_fails(self):
        self.assertEqual(
            self.problems({"tools/a.py": "def f():\n" + "    g()\n" * 70}),
            ["tools/a.py:1: function-length: 71 lines, 70 at most"],
        )

    def test_code_has_100_columns(self):
        wide = "x" * 101 + "\n"
        self.assertEqual(
            self.problems({"src/a/a.hpp": "#pragma once\n" + wide, "dev": "#!/bin/sh\n" + wide,
                           "docs/a.md": wide}),
            [
                "dev:2: columns: 101 columns, 100 at most",
                "src/a/a.hpp:2: columns: 101 columns, 100 at most",
            ],
        )

    def test_a_header_says_pragma_once(self):
        self.assertEqual(
            self.problems({"src/a/a.hpp": "int a;\n"}),
            ["src/a/a.hpp:1: pragma-once: a header says #pragma once"],
        )

    def test_a_source_file_includes_its_own_header_first(self):
        self.assertEqual(
            self.problems({
                "src/a/a.hpp": "#pragma once\n",
                "src/a/a.cpp": '#include <vector>\n#include "a/a.hpp"\n',
                "src/a/main.cpp": "#include <vector>\n",
            }),
            ['src/a/a.cpp:1: own-header: include "a/a.hpp" first'],
        )

    def test_the_compiled_half_of_a_public_header_includes_it_first(self):
        self.assertEqual(
            self.problems({
                "include/errand/json.hpp": "#pragma once\n",
                "include/errand/detail/reader.hpp": "#pragma once\n",
                "src/sdk/api/json.cpp": "#include <vector>\n#include <errand/json.hpp>\n",
                "src/sdk/api/reader.cpp": "#include <errand/detail/reader.hpp>\n",
                "src/json/json.cpp": "#include <vector>\n",
            }),
            ['src/sdk/api/json.cpp:1: own-header: include "errand/json.hpp" first'],
        )

    def test_banned_words_fail_and_a_dated_todo_passes(self):
        self.assertEqual(
            self.problems({
                "src/a/a.cpp": "// TODO(soon): x\n// TODO: y\n// TODO(now): z\n"
                               "// FIXME\n// XXX\n// HACK\n",
                "docs/a.md": "mkdtemp XXXXXX\n",
            }),
            [
                "src/a/a.cpp:2: words: a TODO says when: TODO(soon|someday|perf|security)",
                "src/a/a.cpp:3: words: TODO(now) is to be done before it lands",
                "src/a/a.cpp:4: words: FIXME is not a plan: fix it, or write TODO(soon)",
                "src/a/a.cpp:5: words: XXX says nothing: write what is wrong",
                "src/a/a.cpp:6: words: HACK says nothing: write why it is so",
            ],
        )

    def test_a_type_is_not_named_for_its_role_but_a_private_impl_may_be(self):
        self.assertEqual(
            self.problems({
                "src/a/a.cpp": "class StoreImpl;\nstruct A::Impl {};\nclass Impl;\n"
                               "struct RunManager {};\n// class TextUtils\n",
            }),
            [
                "src/a/a.cpp:1: names: StoreImpl: name a type for what it is made of or does, "
                "without this suffix",
                "src/a/a.cpp:4: names: RunManager: name a type for what it is made of or does, "
                "without this suffix",
            ],
        )

    def test_only_async_apps_and_tests_start_loose_tasks(self):
        text = "void f() { asio::co_spawn(e, g(), asio::detached); }\n"
        sentence = "loose-task: every task has an owner: start it with TaskGroup::spawn"
        self.assertEqual(
            self.problems({
                "src/net/a.cpp": "void f() { co_spawn(e, g(), h); }  // not detached\n",
                "src/async/a.cpp": text,
                "src/net/a_test.cpp": "namespace errand::a_test {\n" + text,
                "src/net/server/test_support.hpp": "#pragma once\n" + text,
                "src/net/net_contract.hpp": "#pragma once\n" + text,
                "apps/errand/main.cpp": text,
            }),
            [f"src/net/a.cpp:1: {sentence}"],
        )

    def test_using_namespace_std_fails(self):
        self.assertEqual(
            self.problems({"src/a/a.cpp": "using namespace std;\nusing namespace std::literals;\n",
                           "src/a/b.cpp": "using namespace errand;\n"}),
            ["src/a/a.cpp:1: using-std: name what you use"],
        )

    def test_a_sleeping_test_says_why(self):
        sentence = "sleep: wait for an event, or say why not in a `paced:` comment"
        self.assertEqual(
            self.problems({
                "src/a/a_test.cpp": "std::this_thread::sleep_for(x);\ntimers.sleep_until(x);\n"
                                    "namespace errand::a_test {\n",
                "src/a/a.cpp": "std::this_thread::sleep_for(x);\n",
                "tests/a.py": "time.sleep(1)\ntime.sleep(1)  # paced: kills at odd moments\n",
                "tests/a.mjs": "setTimeout(f, 1);\n",
            }),
            [f"src/a/a_test.cpp:1: {sentence}", f"tests/a.mjs:1: {sentence}",
             f"tests/a.py:1: {sentence}"],
        )

    def test_a_python_definition_that_another_one_replaces_fails(self):
        test = "    def test_a(self):\n        pass\n"
        two_classes = f"class ATest:\n{test}\n\nclass ATest:\n{test}"
        two_methods = f"class ATest:\n{test}\n    @slow\n    async {test.lstrip()}"
        fits = (f"class ATest:\n{test}\n\nclass BTest:\n{test}\n"
                "    @property\n    def b(self):\n        return lambda: 1\n\n"
                "    @b.setter\n    def b(self, b):\n        pass\n")
        self.assertEqual(
            self.problems({"tests/classes.py": two_classes, "tests/methods.py": two_methods,
                           "tests/fits.py": fits}),
            ["tests/classes.py:6: replaced: ATest replaces that of line 1",
             "tests/methods.py:6: replaced: test_a replaces that of line 2"])

    def test_a_doubled_word_of_a_document_fails(self):
        self.assertEqual(
            self.problems({
                "docs/a.md": "The the run, which\nwhich ends.\n",
                "docs/fits.md": "# A run\n\nRun `errand errand`, errand.\n"
                                "```\nkey key\n```\na `a` a\n| a | a |\n",
            }),
            ['docs/a.md:1: doubled-word: "The" stands twice',
             'docs/a.md:1: doubled-word: "which" stands twice'])

    def test_white_space_at_ends_fails(self):
        self.assertEqual(
            self.problems({"docs/a.md": "a \nb"}),
            ["docs/a.md:1: white-space: white space at the end of the line",
             "docs/a.md:2: white-space: no newline at the end of the file"],
        )

    def test_every_folder_of_src_and_include_has_a_readme_save_detail(self):
        self.assertEqual(
            self.problems({"src/a/a.cpp": "\n", "src/a/detail/b.cpp": "\n",
                           "src/b/README.md": "# b\n", "src/b/b.cpp": "\n",
                           "include/c/c.hpp": "#pragma once\n"}, with_readmes=False),
            ["include/c/README.md:1: readme: every folder of include/ has one",
             "src/a/README.md:1: readme: every folder of src/ has one"],
        )

    def test_a_folder_with_more_than_44_files_is_split_unless_it_is_a_list(self):
        files = {f"tests/{folder}/{number}.txt": "x\n"
                 for folder, count in (("a", 44), ("b", 45)) for number in range(count)}
        files |= {f"docs/adr/{number}.md": "x\n" for number in range(60)}
        self.assertEqual(self.problems(files), [
            "tests/b:1: folder-size: 45 files, 44 at most: make rooms in it"])

    def test_the_demo_model_has_at_most_600_lines_without_its_tests(self):
        full = {"src/llm/demo/a.hpp": "#pragma once\n" * 250,
                "src/llm/demo/b.cpp": "int b;\n" * 350,
                "src/llm/demo/b_test.cpp": "namespace b_test {\n" + "int c;\n" * 450}
        self.assertEqual(self.problems(full), [])
        self.assertEqual(
            self.problems(full | {"src/llm/demo/words/d.cpp": "int d;\n"}),
            ["src/llm/demo:1: part-size: 601 lines without tests, 600 at most: do less in it"],
        )

    def test_a_test_file_has_a_namespace_of_its_own(self):
        self.assertEqual(
            self.problems({"src/a/b_test.cpp": "namespace errand::a::b_test {\nnamespace {\n",
                           "src/a/c_test.cpp": "#include <x>\nnamespace errand::a {\n",
                           "src/a/d_test.cpp": "int main() {}\n"}),
            ["src/a/c_test.cpp:2: test-namespace: its namespace ends in c_test",
             "src/a/d_test.cpp:1: test-namespace: its namespace ends in d_test"])

    def test_two_files_of_a_folder_hide_no_name_twice(self):
        hides = "namespace a {{\nnamespace {{\n\n{}\n\n}}  // namespace\n}}  // namespace a\n"
        one = hides.format("constexpr int kMax = 1;\nint f(int a) {\n  return a;\n}\nstruct S {};")
        same = hides.format("constexpr int kMax = 1;\nint f(int b) {\n  return b;\n}\nstruct S {};")
        other = hides.format("int f(long a) {\n  return a;\n}\nusing T = int;")
        files = {"src/a/one.cpp": one, "src/a/two.cpp": same, "src/b/two.cpp": same,
                 "src/a/three.cpp": other}
        self.assertEqual(self.problems(files), [
            f"src/a/two.cpp:{line}: hidden-name: src/a/one.cpp has a {name}, too"
            for line, name in ((4, "kMax"), (5, "f"), (8, "S"))])


if __name__ == "__main__":
    unittest.main()
