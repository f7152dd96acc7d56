#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "json/value.hpp"
#include "run/tools/tool_decl.hpp"

namespace errand {

// Whether a vendor that will not have the schema may be asked without it.
enum class Enforcement { best_effort, strict };

// What a caller asks of the final text: that it is JSON of a schema.
struct OutputSchema {
  std::string name = "output";  // what vendors that name schemas call it
  SchemaPtr schema;
  Enforcement enforcement = Enforcement::best_effort;
};

constexpr std::size_t kOutputSchemaBytesMax = 32 * 1024;  // of the whole "outputSchema", as JSON
constexpr std::size_t kOutputNameCharsMax = 64;

// "outputSchema" of a run. invalid_argument: with the pointer, and with the limit that was met.
// Whether the schema itself makes sense is not looked at.
Result<OutputSchema> parse_output_schema(const json::Value& value, std::string_view pointer);
// The same for one that was not parsed.
Result<void> check_output_schema(const OutputSchema& output, std::string_view pointer);
// Never longer than what was parsed.
json::Object to_json(const OutputSchema& output);

// How an answer is made to follow the output schema.
enum class OutputMechanism {
  native,       // the vendor's own way
  answer_tool,  // the model calls a tool with the answer as its arguments
  plain         // it is told the schema, and trusted
};
// The protocol's words: "native_schema", "synthetic_tool", "none".
std::string_view to_string(OutputMechanism mechanism);
std::optional<OutputMechanism> parse_output_mechanism(std::string_view word);

// What became of a run's output schema, as its end and its snapshot tell.
struct StructuredOutput {
  bool is_enforced = false;  // the run's text was checked, and fits
  OutputMechanism mechanism = OutputMechanism::plain;
  bool fell_back = false;  // the vendor would not have the schema, and was asked without it

  friend bool operator==(const StructuredOutput&, const StructuredOutput&) = default;
};
json::Object to_json(const StructuredOutput& output);
StructuredOutput parse_structured_output(const json::Value& value);

}  // namespace errand
