"""A configuration file that is wrong stops the start, with the place and what would be right."""

import re

from support.script import turn
from support.server import ServerCase


class WrongConfigTest(ServerCase):
    def refusal(self, **config) -> str:
        """What the server says about the file instead of starting."""
        with self.assertRaises(AssertionError) as refused:
            self.start_server([turn("Hi.")], config)
        said = str(refused.exception).strip().replace('\\"', '"')
        self.assertIn("the server ended with 2 before it was ready", said)
        return re.split(r"config\.json(?::\d+:\d+)?: ", said, maxsplit=1)[-1].removesuffix('"')

    def test_a_setting_that_is_not_there(self):
        self.assertEqual(self.refusal(compatibility={"missingresult": "empty"}),
                         '"missingresult" is not a setting here; did you mean missingResult? '
                         "(at /compatibility/missingresult)")

    def test_a_word_that_is_none_of_the_choices(self):
        self.assertEqual(self.refusal(compatibility={"missingResult": "maybe"}),
                         'expected one of "refuse", "empty", got "maybe" '
                         "(at /compatibility/missingResult)")

    def test_a_number_out_of_range(self):
        self.assertEqual(self.refusal(limits={"maxToolTurns": 1001}),
                         "expected an integer from 0 to 1000, got 1001 (at /limits/maxToolTurns)")

    def test_what_is_no_network(self):
        self.assertEqual(self.refusal(network={"allow": ["10.0.0.0/8", "home"]}),
                         '"home" is not a network; one is such as 10.0.0.0/8 or ::1 '
                         "(at /network/allow/1)")

    def test_a_default_model_that_is_not_there(self):
        self.assertEqual(self.refusal(defaultModel="none"),
                         'no model has the id "none"; there are: scripted (at /defaultModel)')


if __name__ == "__main__":
    import unittest

    unittest.main()
