"""The installed C++ SDK, compiled against with g++ 12 and clang 19."""

import os
import re
import resource
import unittest

from sdk.installed import COMPILERS, FLAGS, ROOT, InstalledCase, in_parallel, run
from sdk.refused import CASES

HERE = ROOT / "tests" / "sdk"
ONE_TOOL_SECONDS_MAX = 2.5  # of processor time, with g++
# A mangled name of the namespace errand: a function, a variable, a table or the type of a class.
OF_ERRAND = re.compile(r"_Z(T[A-Z]|GV|Z|TW|TH)*N?[KVRO]*6errand")
INCLUDES = """#include <errand/errand.hpp>
#include <functional>
#include <map>
#include <string_view>
"""
PROJECT = """cmake_minimum_required(VERSION 3.16)
project(user LANGUAGES CXX)
find_package(errand 0.1 REQUIRED)
add_executable(user "{source}")
target_link_libraries(user PRIVATE errand::errand)
"""


class InstallTest(InstalledCase):
    def output_of(self, compiler: str, source, *more: str) -> str:
        return self.must(self.compile(compiler, source, *more))

    def test_a_program_prints_the_same_with_both_compilers(self):
        expected = HERE / "user_program.txt"
        for compiler in COMPILERS:
            with self.subTest(compiler):
                output = self.output_of(compiler, HERE / "user_program.cpp")
                if os.environ.get("ERRAND_UPDATE"):
                    expected.write_text(output)
                self.assertEqual(output, expected.read_text())

    def test_both_compilers_find_the_same_schemas(self):
        expected = (ROOT / "src" / "sdk" / "api" / "test_schemas.txt").read_text()
        outputs = in_parallel(
            lambda compiler: self.output_of(compiler, HERE / "print_schemas.cpp",
                                            f"-I{ROOT / 'src'}"), COMPILERS)
        self.assertEqual(outputs[0], outputs[1])
        self.assertEqual(outputs[0][:len(expected)], expected)

    def test_a_program_with_asio_gets_completions_on_its_executor(self):
        outputs = in_parallel(lambda compiler: self.output_of(compiler, HERE / "asio_program.cpp"),
                              COMPILERS)
        expected = (HERE / "asio_program.txt").read_text()
        self.assertEqual(outputs, [expected] * 2)

    def test_a_project_finds_the_package(self):
        project = self.work / "project"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(
            PROJECT.format(source=(HERE / "user_program.cpp").as_posix()))
        for compiler in COMPILERS:
            with self.subTest(compiler):
                build = self.build_project(compiler, project)
                self.assertEqual(self.must(build / "user"),
                                 (HERE / "user_program.txt").read_text())

    def test_every_header_compiles_alone_and_without_warnings(self):
        headers = sorted(path.relative_to(self.prefix / "include").as_posix()
                         for path in (self.prefix / "include" / "errand").glob("*.hpp"))
        self.assertIn("errand/errand.hpp", headers)

        def compile_alone(case: tuple[str, str]) -> str:
            compiler, header = case
            done = run(compiler, *FLAGS, "-fsyntax-only", f"-I{self.prefix / 'include'}",
                       "-xc++", "-", input=f"#include <{header}>\nint main() {{}}\n")
            return f"{compiler} {header}: {done.stderr}" if done.returncode else ""

        cases = [(compiler, header) for header in headers for compiler in COMPILERS]
        self.assertEqual([wrong for wrong in in_parallel(compile_alone, cases) if wrong], [])

    def test_what_json_cannot_carry_is_a_compile_error_that_says_what_to_do(self):
        def compile_refused(case: tuple) -> str:
            compiler, refused = case
            done = run(compiler, *FLAGS, "-fsyntax-only", f"-I{self.prefix / 'include'}",
                       "-xc++", "-", input=INCLUDES + refused.code)
            if done.returncode == 0:
                return f"{compiler} compiles: {refused.name}"
            said = " ".join(done.stderr.split())
            return "" if refused.sentence in said else f"{compiler} {refused.name}: {done.stderr}"

        cases = [(compiler, refused) for refused in CASES for compiler in COMPILERS]
        self.assertEqual([wrong for wrong in in_parallel(compile_refused, cases) if wrong], [])

    def test_one_tool_costs_a_compiler_little(self):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        self.must("g++", *FLAGS, f"-I{self.prefix / 'include'}", "-c", HERE / "one_tool.cpp", "-o",
                  self.work / "one_tool.o")
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        self.assertLess(seconds, ONE_TOOL_SECONDS_MAX)

    def test_the_library_shows_no_symbols_of_its_own(self):
        """A program that exports what it has exports nothing of the SDK inside."""
        source = self.work / "exporting.cpp"
        source.write_text('#include <errand/errand.hpp>\n'
                          "int main(int, char** words) {\n"
                          "  return errand::Json::parse(words[0]).has_value() ? 1 : 0;\n}\n")
        program = self.work / "exporting"
        self.must("g++", *FLAGS, "-rdynamic", "-fvisibility=hidden", source, *self.pkg_config(),
                  "-o", program)
        exported = self.must("nm", "-CD", "--defined-only", program)
        self.assertEqual([line for line in exported.splitlines() if "errand::" in line], [])

    def test_every_part_of_the_library_is_hidden(self):
        """Also what the program above does not use, such as the engine and the store."""
        listed = self.must("readelf", "--symbols", "--wide", self.prefix / "lib" / "liberrand.a")
        seen = {"HIDDEN": set(), "DEFAULT": set()}
        for line in listed.splitlines():
            words = line.split()
            if len(words) != 8 or words[4] == "LOCAL" or words[6] == "UND":
                continue
            visibility, name = words[5], words[7]
            if visibility in seen and OF_ERRAND.match(name):
                seen[visibility].add(name)
        self.assertEqual(sorted(seen["DEFAULT"])[:10], [])
        self.assertGreater(len(seen["HIDDEN"]), 5_000)


if __name__ == "__main__":
    unittest.main()
