import unittest

from support.transcript import Malformed, Names, parse, parse_request

FILE = """\
# A behaviour.
-- model fast
-- turn {"text":["a"]}
-- vendor gemini gemini-3-pro
-- config {"limits":{"runMs":1}}
-- serve --public-url https://a

>> POST /runs   X-A: b   X-C: d
>> {"a":1}
<< 201 application/json
<< {"id":"{run1}"}

>> GET /runs/{run1}
"""


class ParseTest(unittest.TestCase):
    def test_set_up_requests_and_answers_are_told_apart(self):
        transcript = parse(FILE)
        self.assertEqual(transcript.scripts, {"fast": [{"text": ["a"]}]})
        self.assertEqual(transcript.vendors, [("gemini", "gemini-3-pro")])
        self.assertEqual(transcript.config, {"limits": {"runMs": 1}})
        self.assertEqual(transcript.arguments, ("--public-url", "https://a"))
        self.assertEqual([(item.sent, item.expected) for item in transcript.exchanges()], [
            (["POST /runs   X-A: b   X-C: d", '{"a":1}'],
             ["201 application/json", '{"id":"{run1}"}']),
            (["GET /runs/{run1}"], []),
        ])

    def test_the_text_comes_back_with_new_answers(self):
        text = parse(FILE).text([["201 application/json", '{"id":"{run1}"}'], ["404"]])
        self.assertEqual(text, FILE + "<< 404\n")

    def test_a_line_of_no_kind_is_refused(self):
        with self.assertRaises(Malformed):
            parse("GET /runs\n")


class NamesTest(unittest.TestCase):
    def test_ids_are_numbered_in_order_and_filled_in_again(self):
        names = Names(7300)
        one, two = "run_0123456789abcdef1", "run_0123456789abcdef2"
        masked = names.mask(f'{{"a":"{one}","b":"{two}","c":"{one}","code":"run_terminal",'
                            '"at":"2026-01-02T03:04:05.678Z","u":"http://127.0.0.1:7300/",'
                            '"v":{"at":1767323045678,"max":1767323045678}}')
        self.assertEqual(masked, '{"a":"{run1}","b":"{run2}","c":"{run1}","code":"run_terminal",'
                                 '"at":"{time}","u":"http://127.0.0.1:{port}/",'
                                 '"v":{"at":{time},"max":1767323045678}}')
        self.assertEqual(names.fill("/runs/{run2}?x={other}"), f"/runs/{two}?x={{other}}")

    def test_a_cursor_that_is_an_id_keeps_the_name_of_the_id(self):
        names = Names(7300)
        run = "run_0123456789abcdef1"
        self.assertEqual(names.mask(run), "{run1}")
        self.assertEqual(names.mask(f'{{"nextCursor":"{run}"}}'), '{"nextCursor":"{run1}"}')
        self.assertEqual(names.mask('{"nextCursor":"3"}'), '{"nextCursor":"{cursor1}"}')


class RequestTest(unittest.TestCase):
    def test_a_body_is_made_of_text_repeats_and_bytes(self):
        request = parse_request(
            ["POST /runs   X-A: b", "[", "@repeat 3 [", r"@bytes \xff\n", "]"], Names(1))
        self.assertEqual((request.method, request.path, request.headers, request.body),
                         ("POST", "/runs", {"X-A": "b"}, b"[[[[\xff\n]"))

    def test_a_post_without_a_body_has_an_empty_one_and_a_get_none(self):
        self.assertEqual(parse_request(["POST /x"], Names(1)).body, b"")
        self.assertIsNone(parse_request(["GET /x"], Names(1)).body)


if __name__ == "__main__":
    unittest.main()
