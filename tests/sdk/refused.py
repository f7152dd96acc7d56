"""Programs that must not compile, and the sentence that the compiler must show."""

from typing import NamedTuple


class Refused(NamedTuple):
    name: str
    code: str  # after the includes
    sentence: str


def member(name: str, declaration: str, sentence: str, before: str = "") -> Refused:
    """A struct with one member that JSON cannot carry."""
    return Refused(name, f"{before}\nstruct Args {{\n  {declaration};\n}};\n"
                         "int main() { errand::schema_of<Args>(); }\n", sentence)


def handler(name: str, code: str, sentence: str) -> Refused:
    """A tool with a handler that cannot be one."""
    return Refused(name, "struct Args {\n  int number;\n};\n"
                         f'int main() {{ errand::tool("t", "", {code}); }}\n', sentence)


ONE_STRUCT = ("errand: a handler takes one struct with all arguments, whose members have names, "
              "and may take a ToolContext& beside it.")
JSON_CANNOT = "errand: JSON cannot carry this type as it is."

CASES = (
    member("string view", "std::string_view text",
           "errand: nothing would own the text; use std::string."),
    member("text pointer", "const char* text",
           "errand: nothing would own the text; use std::string."),
    member("raw pointer", "int* number",
           "errand: a raw pointer has no owner; use std::optional, std::unique_ptr or "
           "std::shared_ptr."),
    member("character", "char letter",
           "errand: a character may mean a text or a number; use std::string or std::int8_t."),
    member("text buffer", "char name[8]",
           "errand: an array of characters has no length; use std::string."),
    member("byte", "std::vector<std::byte> bytes",
           "errand: JSON has no bytes; use a std::string with base64 text."),
    member("long double", "long double number",
           "errand: JSON numbers have the precision of double; use double."),
    member("function", "std::function<void()> f", JSON_CANNOT),
    member("const member", "const int number = 1",
           "errand: a const member cannot be read; leave out the const"),
    member("map key", "std::map<double, int> map",
           "errand: the names of a JSON object are texts; a map's key must be a std::string, an "
           "integer or an enum."),
    member("multimap", "std::multimap<std::string, int> map",
           "errand: a JSON object has each name once; use a map whose values are vectors."),
    member("steady time", "std::chrono::steady_clock::time_point when",
           "errand: only the system clock has a date; use std::chrono::sys_time or a duration."),
    member("class", "Hidden hidden", JSON_CANNOT,
           before="class Hidden {\n public:\n  Hidden() {}\n  int number = 0;\n};"),
    member("class without a default", "Hidden hidden",
           "errand: a type that is read from JSON needs a default constructor.",
           before="class Hidden {\n public:\n  explicit Hidden(int n) : number(n) {}\n"
                  "  int number;\n};\nERRAND_DESCRIBE(Hidden, (number))"),
    member("base class", "Derived derived", JSON_CANNOT,
           before="struct Base {\n  int a;\n};\nstruct Derived : Base {\n  int b;\n};"),
    member("enum without a type", "Old old",
           "errand: the names of this enum cannot be found.",
           before="enum Old { one, two };"),
    Refused("range of a text", "struct Args {\n  std::string text;\n};\n"
                               "ERRAND_DESCRIBE(Args, (text, errand::range(1, 2)))\n"
                               "int main() { errand::schema_of<Args>(); }\n",
            "errand: range, at_least, at_most and multiple_of describe numbers and durations"),
    Refused("pattern of a number", "struct Args {\n  int number;\n};\n"
                                   'ERRAND_DESCRIBE(Args, (number, errand::pattern("x")))\n'
                                   "int main() { errand::schema_of<Args>(); }\n",
            "errand: pattern, format, length and one_of describe texts"),
    handler("two arguments", "[](std::string city, int days) { return city.size() + days; }",
            ONE_STRUCT),
    handler("three arguments", "[](Args, Args, errand::ToolContext&) {}", ONE_STRUCT),
    handler("no struct", "[](int number) { return number; }",
            "errand: the arguments of a tool have names; put them in a struct."),
    handler("auto", "[](auto args) { return args.number; }",
            "write the type of its parameter instead of auto."),
    handler("mutable reference", "[](Args& args) { return args.number; }",
            "errand: a handler takes its arguments by value or by const reference."),
    Refused("temporary object", "struct Service {\n  int f() { return 1; }\n};\n"
                                'int main() { errand::tool("t", "", &Service::f, Service()); }\n',
            "errand: the tool would outlive this object; keep the object in a variable or in a "
            "std::shared_ptr."),
    handler("result", "[](const Args&) -> int* { return nullptr; }",
            "errand: a raw pointer has no owner"),
)
