#include "tool/builtin/calculator_tool.hpp"

#include <utility>

#include "base/text.hpp"
#include "json/fields.hpp"
#include "tool/builtin/arithmetic.hpp"

namespace errand {
namespace {

ToolDecl calculator_decl() {
  json::Object expression = {
      {"type", "string"},
      {"minLength", 1},
      {"maxLength", kExpressionBytesMax},
      {"description", cat("Such as 2 + 3 * 4 or sqrt(2) ^ 3. Operators: + - * / % ^. Constants: "
                          "pi, e. Functions, with angles in radians: ",
                          arithmetic_functions())}};
  return {.name = "calculator",
          .title = "Calculator",
          .description = "Work out an arithmetic expression to 15 digits.",
          .input_schema =
              share_schema({{"type", "object"},
                            {"properties", json::Object{{"expression", std::move(expression)}}},
                            {"required", json::Array{"expression"}},
                            {"additionalProperties", false}}),
          .site = ToolSite::host,
          .annotations = {.read_only = true, .idempotent = true}};
}

}  // namespace

CalculatorTool::CalculatorTool() : decl_(calculator_decl()) {}

Task<ToolOutcome> CalculatorTool::invoke(ToolCall call, ToolContext) {
  json::Value arguments = std::move(call.arguments);
  json::Fields in(arguments, "");
  std::string expression = in.text("expression");
  auto checked = in.finish();
  if (!checked) co_return failed_outcome(checked.error().describe());
  auto value = evaluate(expression);
  if (!value) co_return failed_outcome(value.error().message());
  co_return text_outcome(shown_number(*value));
}

}  // namespace errand
