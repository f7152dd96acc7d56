#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "async/task.hpp"
#include "base/result.hpp"
#include "json/value.hpp"
#include "tool/secrets.hpp"

namespace errand {

// {{args.city}} or {{args.place.city}}: a part of the arguments of a call.
struct ArgumentPlace {
  std::vector<std::string> path;
  std::string text;  // "args.place.city", for messages
};
// {{secret:NAME}}
struct SecretPlace {
  std::string name;
};
// A text with placeholders, taken apart.
using TemplatePart = std::variant<std::string, ArgumentPlace, SecretPlace>;
using Template = std::vector<TemplatePart>;

// invalid_argument: "{{" is followed by something else than a placeholder.
Result<Template> parse_template(std::string_view text);

// How what comes in the place of a placeholder is written.
enum class Encoding {
  plain,
  url,  // percent-encoded
  json  // as it stands between the quotes of a JSON string
};
// `arguments` and `secrets` outlive the task. invalid_argument: an argument that the text needs is
// missing. Else see CallSecrets::find.
Task<Result<std::string>> fill_template(std::string text, const json::Object* arguments,
                                        CallSecrets* secrets, Encoding encoding);

// A JSON value whose texts have placeholders. A text that is one placeholder for an argument
// becomes that argument, whatever its type; where the argument is missing, the member or the item
// is left out. Lifetimes and errors as above.
Task<Result<json::Value>> fill_json(json::Value value, const json::Object* arguments,
                                    CallSecrets* secrets);

// Null: the arguments have no such part, or it is null.
const json::Value* find_argument(const json::Object& arguments, const ArgumentPlace& place);
// The one placeholder for an argument that a text consists of; nothing if it is anything else.
std::optional<ArgumentPlace> lone_argument(std::string_view text);

}  // namespace errand
