import unittest

import loading  # for the path of tools/
import mutants


class MutantsTest(unittest.TestCase):
    def made_of(self, text: str) -> list[str]:
        """The lines that mutants have in the place of the first."""
        return [one.becomes for one in mutants.mutants("a.cpp", text + "\n")]

    def test_comparisons_and_conjunctions_are_turned(self):
        self.assertEqual(self.made_of("while (a < b && c == d || e >= f) go();"), [
            "while (a <= b && c == d || e >= f) go();",
            "while (a < b || c == d || e >= f) go();",
            "while (a < b && c != d || e >= f) go();",
            "while (a < b && c == d && e >= f) go();",
            "while (a < b && c == d || e > f) go();",
        ])

    def test_brackets_of_templates_and_references_are_no_operators(self):
        for text in ("template <class T>", "Box<A<T>> f(T&& x);", "bool operator==(A a);",
                     "return x->y;", "return ++x;", "auto* x = &y;"):
            self.assertEqual(self.made_of(text), [], text)

    def test_signs_are_turned_but_not_where_text_is_joined(self):
        self.assertEqual(self.made_of("x += a + b;"), ["x -= a + b;", "x += a - b;"])
        self.assertEqual(self.made_of('return "a" + b + "c";'), [])

    def test_a_negation_is_dropped(self):
        self.assertEqual(self.made_of("if (!a || b != c(!d)) {"), [
            "if (a || b != c(!d)) {", "if (!a && b != c(!d)) {", "if (!a || b == c(!d)) {",
            "if (!a || b != c(d)) {"])

    def test_integers_are_one_more_and_one_less(self):
        self.assertEqual(self.made_of("f(64, 0U);"), ["f(63, 0U);", "f(65, 0U);", "f(64, 1U);"])

    def test_other_digits_stay(self):
        for text in ("f(0x10, 1.5, 1'000, a1);", "get<0>(x);", 'f("12", \'3\');', "// 12",
                     "#if A > 12"):
            self.assertEqual(self.made_of(text), [], text)

    def test_truth_is_swapped(self):
        self.assertEqual(self.made_of("return true;"), ["return false;"])
        self.assertEqual(self.made_of("co_return false;"), ["co_return true;"])

    def test_a_guard_is_left_out(self):
        self.assertEqual(self.made_of("  if (is_done()) co_return;  // Why not."),
                         ["// Why not."])
        self.assertEqual(self.made_of("  if (is_done()) return result();"), [mutants.REMOVED])

    def test_a_call_before_the_return_of_a_guard_is_left_out(self):
        text = "  if (a) {\n    first();\n    x.close(y);\n    return;\n  }\n  other();\n"
        (mutant,) = mutants.mutants("a.cpp", text)
        self.assertEqual(str(mutant), "a.cpp:3: x.close(y); -> (nothing)")
        self.assertEqual(mutant.apply(text),
                         "  if (a) {\n    first();\n    \n    return;\n  }\n  other();\n")

    def test_a_mutant_differs_from_the_original_in_its_place_only(self):
        text = "int f() {\n  // a < b\n  return a < b;\n}\n"
        (mutant,) = mutants.mutants("src/a.cpp", text)
        self.assertEqual(str(mutant), "src/a.cpp:3: return a < b; -> return a <= b;")
        self.assertEqual(mutant.apply(text), "int f() {\n  // a < b\n  return a <= b;\n}\n")


class OrderTest(unittest.TestCase):
    TEXT = "".join(f"if (a{n} < b) f();\n" for n in range(50))

    def order(self, text: str, seed: int) -> list[str]:
        return [one.was for one in mutants.in_order(mutants.mutants("a.cpp", text), seed)]

    def test_the_seed_decides(self):
        self.assertEqual(self.order(self.TEXT, 1), self.order(self.TEXT, 1))
        self.assertNotEqual(self.order(self.TEXT, 1), self.order(self.TEXT, 2))

    def test_what_is_added_leaves_the_order_of_the_others(self):
        longer = self.order("if (new_one > b) f();\n" + self.TEXT, 1)
        longer.remove("if (new_one > b) f();")
        self.assertEqual(longer, self.order(self.TEXT, 1))


class AcceptedTest(unittest.TestCase):
    def test_a_reason_may_have_several_lines(self):
        self.assertEqual(
            mutants.read_accepted("# How.\n\na.cpp: x -> y\n    Nobody can\n    see it.\n"),
            {"a.cpp: x -> y": "Nobody can see it."})

    def test_a_reason_is_wanted(self):
        with self.assertRaisesRegex(ValueError, "no reason is given for a.cpp: x -> y"):
            mutants.read_accepted("a.cpp: x -> y\nb.cpp: x -> y\n    Because.\n")
        with self.assertRaisesRegex(ValueError, "a reason without a mutant: Because."):
            mutants.read_accepted("    Because.\n")


if __name__ == "__main__":
    unittest.main()
