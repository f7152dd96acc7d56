#include "run/output_schema.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/write.hpp"

namespace errand {
namespace {

constexpr std::array<std::string_view, 3> kMechanisms = {"native_schema", "synthetic_tool", "none"};

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

Result<void> check_size(const json::Value& value, std::string_view pointer) {
  std::size_t bytes = json::write(value).size();
  if (bytes <= kOutputSchemaBytesMax) return {};
  return Error(ErrorCode::invalid_argument,
               cat("the output schema has ", bytes, " bytes as JSON; at most ",
                   kOutputSchemaBytesMax, " are allowed"))
      .pointer(pointer)
      .limit("outputSchemaBytes", static_cast<std::int64_t>(kOutputSchemaBytesMax));
}

Result<void> check_name(const std::string& name, std::string_view pointer) {
  bool is_too_long = name.size() > kOutputNameCharsMax;
  if (!is_too_long && !name.empty() && std::all_of(name.begin(), name.end(), is_name_char)) {
    return {};
  }
  Error error(ErrorCode::invalid_argument,
              cat("the name of an output schema is 1 to ", kOutputNameCharsMax,
                  " letters, digits, underscores and dashes"));
  if (!is_too_long) return std::move(error).pointer(pointer);
  return std::move(error).pointer(pointer).limit("outputNameChars",
                                                 static_cast<std::int64_t>(kOutputNameCharsMax));
}

}  // namespace

Result<OutputSchema> parse_output_schema(const json::Value& value, std::string_view pointer) {
  json::Fields in(value, pointer);
  ERRAND_CHECK(in.finish());
  ERRAND_CHECK(check_size(value, pointer));
  OutputSchema output;
  if (auto name = in.optional_text("name")) {
    ERRAND_CHECK(check_name(*name, in.pointer_to("name")));
    output.name = std::move(*name);
  }
  if (in.optional_choice("enforcement", {"best_effort", "strict"}) == 1) {
    output.enforcement = Enforcement::strict;
  }
  if (const json::Object* schema = in.optional_object("schema")) {
    output.schema = share_schema(*schema);
  } else {
    in.fail("schema", "\"schema\" is missing: expected a JSON Schema");
  }
  return in.finish(std::move(output));
}

Result<void> check_output_schema(const OutputSchema& output, std::string_view pointer) {
  ERRAND_CHECK(check_size(to_json(output), pointer));
  return check_name(output.name, json::child_pointer(pointer, "name"));
}

json::Object to_json(const OutputSchema& output) {
  json::Object out;
  if (output.name != OutputSchema().name) out["name"] = output.name;
  out["schema"] = *output.schema;
  if (output.enforcement == Enforcement::strict) out["enforcement"] = "strict";
  return out;
}

std::string_view to_string(OutputMechanism mechanism) {
  return kMechanisms[static_cast<std::size_t>(mechanism)];
}

std::optional<OutputMechanism> parse_output_mechanism(std::string_view word) {
  const auto* found = std::find(kMechanisms.begin(), kMechanisms.end(), word);
  if (found == kMechanisms.end()) return {};
  return static_cast<OutputMechanism>(found - kMechanisms.begin());
}

json::Object to_json(const StructuredOutput& output) {
  return {{"schemaRequested", true},
          {"schemaEnforced", output.is_enforced},
          {"enforcementMechanism", to_string(output.mechanism)},
          {"unconstrainedFallbackOccurred", output.fell_back}};
}

StructuredOutput parse_structured_output(const json::Value& value) {
  json::Fields in(value, "");
  auto mechanism = parse_output_mechanism(in.optional_text("enforcementMechanism").value_or(""));
  return {.is_enforced = in.optional_flag("schemaEnforced").value_or(false),
          .mechanism = mechanism.value_or(OutputMechanism::plain),
          .fell_back = in.optional_flag("unconstrainedFallbackOccurred").value_or(false)};
}

}  // namespace errand
