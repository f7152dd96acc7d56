#include "agent/fold/output.hpp"

#include "base/text.hpp"
#include "json/parse.hpp"
#include "tool/input_schema.hpp"

namespace errand::agent {

Mistakes output_mistakes(const State& state, json::SchemaCache& schemas) {
  const Sparse<OutputSchema>& output = state.created().spec.output_schema;
  if (!output) return {};
  return output_mistakes(*output->schema, state.last_text(), schemas);
}

Mistakes output_mistakes(const json::Object& output_schema, std::string_view text,
                         json::SchemaCache& schemas) {
  if (text.size() > kOutputBytesMax) {
    return cat("the answer is longer than ", kOutputBytesMax, " bytes");
  }
  auto value = json::parse(text, {.duplicate_keys = json::DuplicateKeys::last_wins,
                                  .values_max = json::kStrangersValuesMax});
  if (!value) return cat("the answer is not JSON: ", value.error().message());
  // Another version of Errand accepted this schema, which this version cannot compile. The answer
  // is not checked.
  auto schema = compile_input_schema(schemas, output_schema);
  if (!schema) return {};
  auto errors = (*schema)->validate(*value, json::fair_work(text.size()));
  if (errors.empty()) return {};
  return std::string(utf8_prefix(json::describe(errors), kMistakesBytesMax));
}

std::string repair_prompt(std::string_view mistakes) {
  return cat("Your answer does not fit the schema that it has to follow:\n", mistakes,
             "\n\nGive the whole answer again with this put right, and nothing besides it.");
}

}  // namespace errand::agent
