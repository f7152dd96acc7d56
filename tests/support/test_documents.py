"""The runner of documents notices what does not work as it stands there."""

import os
import tempfile
import unittest
from pathlib import Path

from support.documents import Block, Session, blocks_of, fits, mask

PAGE = """# A page

```sh
echo one
```

```python
# hello.py
print("hello")
```
"""
ASK = """# ask.sh
read -r -p "> " name
echo "Hello, $name"
"""
SERVICE = """sh -c 'echo "{\\"event\\":\\"ready\\"}"; exec tail -f /dev/null' # until Ctrl-C
echo after
"""


def block(language: str, text: str) -> Block:
    return Block("page.md", 3, language, text)


class BlocksTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="errand-test-")
        self.addCleanup(folder.cleanup)
        self.page = Path(folder.name) / "page.md"

    def test_blocks_have_their_place_and_perhaps_a_file_name(self):
        self.page.write_text(PAGE)
        blocks = blocks_of(self.page)
        self.assertEqual(blocks, [
            Block("page.md", 4, "sh", "echo one\n"),
            Block("page.md", 8, "python", '# hello.py\nprint("hello")\n')])
        self.assertEqual([block.file_name for block in blocks], ["", "hello.py"])

    def test_a_fence_that_would_be_overlooked_is_refused(self):
        self.page.write_text("- an item\n  ```sh\n  echo one\n  ```\n")
        with self.assertRaisesRegex(AssertionError, "page.md:2: a fence begins its line"):
            blocks_of(self.page)


class OutputTest(unittest.TestCase):
    def test_ids_times_and_ports_are_masked(self):
        line = "run_01k7ghnpr00000iaaej76r6rs1  2026-11-15T19:52:00.706Z  127.0.0.1:7300  12 ms\n"
        self.assertEqual(mask(line), "run_ID  TIME  127.0.0.1:PORT  DURATION")

    def test_three_dots_stand_for_any_lines(self):
        self.assertTrue(fits(["a", "...", "d"], ["a", "b", "c", "d"]))
        self.assertTrue(fits(["a", "...", "d"], ["a", "d"]))
        self.assertFalse(fits(["a", "...", "d"], ["a", "b", "c"]))
        self.assertFalse(fits(["a"], ["a", "b"]))


class SessionTest(unittest.TestCase):
    maxDiff = None

    def run_blocks(self, *blocks: Block) -> tuple[Session, list[str]]:
        folder = tempfile.TemporaryDirectory(prefix="errand-test-")
        self.addCleanup(folder.cleanup)
        work = Path(folder.name) / "work"
        work.mkdir()
        session = Session(Path(folder.name), work, {"PATH": os.environ["PATH"]})
        return session, session.run(list(blocks))

    def test_blocks_are_one_session_with_the_files_of_the_page(self):
        _, problems = self.run_blocks(block("sh", "NAME=hello\n"),
                                      block("python", '# hello.py\nprint("hello")\n'),
                                      block("console", "$ python3 $NAME.py\nhello\n"))
        self.assertEqual(problems, [])

    def test_the_first_command_that_fails_is_named(self):
        _, problems = self.run_blocks(block("sh", "echo one\n"),
                                      block("sh", "echo two\nfalse\necho three\n"))
        self.assertEqual(problems, ["page.md:3: exit code 1\ntwo\n"])

    def test_another_output_is_shown_beside_the_expected_one(self):
        _, problems = self.run_blocks(block("console", "$ echo one\ntwo\n$ echo three\nthree\n"))
        self.assertEqual(problems,
                         ["page.md:3: echo one\n--- expected\ntwo\n--- shown\none"])

    def test_what_a_terminal_shows_is_compared_and_its_prompts_are_answered(self):
        _, problems = self.run_blocks(block("terminal", "$ bash ask.sh\n> Ada\nHello, Ada\n"),
                                      block("bash", ASK))
        self.assertEqual(problems, [])

    def test_another_screen_is_shown_beside_the_expected_one(self):
        _, problems = self.run_blocks(block("terminal", "$ bash ask.sh\nWho?\n> Ada\n"),
                                      block("bash", ASK))
        self.assertEqual(problems, ["page.md:3: bash ask.sh\n--- expected\nWho?\n> Ada\n"
                                    "--- shown\n> Hello,"])

    def test_what_serves_is_waited_for_and_ended(self):
        session, problems = self.run_blocks(block("sh", SERVICE))
        self.assertEqual((problems, session.output(0)), ([], "after\n"))

    def test_what_should_serve_and_ends_is_a_failure(self):
        _, problems = self.run_blocks(block("sh", "echo no # until Ctrl-C\n"))
        self.assertEqual(problems,
                         ["page.md:3: exit code 1\nended, and was never ready:\nno\n"])


if __name__ == "__main__":
    unittest.main()
