#include "agent/fold/result_check.hpp"

#include <utility>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "tool/input_schema.hpp"

namespace errand::agent {
namespace {

// What is wrong with a result; empty if it fits.
std::string mistakes_of(const json::Object& output_schema, const OutcomeEntry& outcome,
                        const std::optional<json::Value>& structured, json::SchemaCache& schemas) {
  // Another version of Errand accepted this schema, which this version cannot compile. The result
  // is not checked.
  auto schema = compile_input_schema(schemas, output_schema);
  if (!schema) return {};
  auto value = structured
                   ? Result<json::Value>(*structured)
                   : json::parse(outcome.text, {.duplicate_keys = json::DuplicateKeys::last_wins,
                                                .values_max = json::kStrangersValuesMax});
  if (!value) return cat("the result is not JSON: ", value.error().message());
  const std::size_t bytes = structured ? json::write(*structured).size() : outcome.text.size();
  auto errors = (*schema)->validate(*value, json::fair_work(bytes));
  return errors.empty() ? std::string() : json::describe(errors);
}

}  // namespace

bool is_checked(const CallState& call, const OutcomeEntry& outcome) {
  const bool is_answer = outcome.ok && !outcome.synthetic && !outcome.timed_out;
  return is_answer && call.tool && call.tool->output_schema && call.tool->kind != "mcp" &&
         !call.tool->annotations.checks_results;
}

OutcomeEntry checked_outcome(const json::Object& schema, OutcomeEntry outcome,
                             const std::optional<json::Value>& structured,
                             json::SchemaCache& schemas) {
  std::string mistakes = mistakes_of(schema, outcome, structured, schemas);
  if (mistakes.empty()) return outcome;
  std::string_view shown = utf8_prefix(outcome.text, kMisfitBytesMax);
  outcome.ok = false;
  outcome.text = cat("The result does not fit the tool's output schema:\n", mistakes,
                     "\nThe result was:\n", shown, shown.size() < outcome.text.size() ? "..." : "");
  return outcome;
}

}  // namespace errand::agent
