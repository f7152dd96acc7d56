#include "agent/fold/arguments.hpp"

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "tool/input_schema.hpp"

namespace errand::agent {
namespace {

std::string tool_input_invalid(std::string_view tool,
                               const std::vector<json::SchemaError>& errors) {
  json::Array listed;
  for (const json::SchemaError& error : errors) {
    listed.push_back({{"pointer", error.pointer}, {"message", error.message}});
  }
  std::string text;
  json::ObjectWriter(text)
      .field("code", "tool_input_invalid")
      .field("message", cat("\"", tool,
                            "\" was not called: its arguments are wrong. Call it again "
                            "with arguments that fit its schema."))
      .field("errors", json::Value(std::move(listed)))
      .end();
  return text;
}

}  // namespace

Result<json::Object> parse_arguments(std::string_view raw) {
  if (raw.size() > kArgumentsBytesMax) {
    return Error(ErrorCode::invalid_argument,
                 cat("the arguments are longer than ", kArgumentsBytesMax, " bytes"));
  }
  ERRAND_TRY(auto value, json::parse(raw, {.duplicate_keys = json::DuplicateKeys::last_wins,
                                           .values_max = json::kStrangersValuesMax}));
  if (!value.is_object()) {
    return Error(ErrorCode::invalid_argument,
                 cat("the arguments must be a JSON object, got ", json::kind_name(value)));
  }
  return std::move(value.get_object());
}

std::optional<std::string> invalid_arguments_text(const CallState& call,
                                                  json::SchemaCache& schemas) {
  auto arguments = parse_arguments(call.arguments);
  if (!arguments) {
    return tool_input_invalid(call.name, {{.pointer = arguments.error().pointer(),
                                           .message = arguments.error().message()}});
  }
  if (call.tool->annotations.checks_arguments) return {};
  json::CompiledSchemaPtr checker = call.tool->checker;
  if (!checker) {
    // Another version of Errand accepted this schema, which this version cannot compile. The
    // arguments are not checked.
    auto schema = compile_input_schema(schemas, call.tool->input_schema);
    if (!schema) return {};
    checker = std::move(*schema);
  }
  auto errors = checker->validate(std::move(*arguments), json::fair_work(call.arguments.size()));
  if (errors.empty()) return {};
  return tool_input_invalid(call.name, errors);
}

std::string shown_arguments(const CallState& call) {
  auto arguments = parse_arguments(call.arguments);
  if (!arguments) return "{}";
  std::string text;
  json::write(text, *arguments);
  return text;
}

}  // namespace errand::agent
