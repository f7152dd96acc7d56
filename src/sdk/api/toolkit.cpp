#include <errand/toolkit.hpp>

#include <algorithm>
#include <utility>

#include "base/close_names.hpp"
#include "base/text.hpp"
#include "sdk/api/coerce.hpp"

namespace errand::v1 {
namespace {

std::vector<std::string_view> names_of(const std::vector<Tool>& tools) {
  std::vector<std::string_view> out;
  for (const Tool& tool : tools) out.push_back(tool.name());
  return out;
}

std::string unknown_tool(const Toolkit& toolkit, std::string_view name) {
  std::vector<std::string_view> known = names_of(toolkit.tools());
  std::string out = cat("There is no tool ", name, " in ", toolkit.name());
  std::string hint = did_you_mean(name, known);
  if (!hint.empty()) append(out, "; ", hint);
  if (known.empty()) return cat(out, ". It has no tools.");
  std::string list;
  for (std::string_view one : known) append(list, list.empty() ? "" : ", ", one);
  return cat(out, hint.empty() ? ". It has: " : " It has: ", list, ".");
}

}  // namespace

Toolkit::Toolkit(ToolkitOptions options) : options_(std::move(options)) {
  if (options_.name.empty()) throw Error(ErrorCode::invalid_argument, "a toolkit needs a name");
  for (Tool& tool : std::exchange(options_.tools, {})) add(std::move(tool));
}

void Toolkit::add(Tool tool) {
  if (find(tool.name())) {
    throw Error(ErrorCode::conflict,
                cat("the toolkit ", name(), " has two tools named ", tool.name()));
  }
  options_.tools.push_back(tool.with_definitions(options_.defs));
}

const Tool* Toolkit::find(std::string_view name) const {
  for (const Tool& tool : options_.tools) {
    if (tool.name() == name) return &tool;
  }
  return nullptr;
}

const Tool& Toolkit::get_tool(std::string_view name) const {
  if (const Tool* tool = find(name)) return *tool;
  throw Error(ErrorCode::not_found, unknown_tool(*this, name));
}

ToolResult Toolkit::execute(ToolContext& context, std::string_view name,
                            const Content& input) const {
  if (std::holds_alternative<EmptyContent>(input)) return execute(context, name, Json::object());
  if (const auto* json = std::get_if<JsonContent>(&input)) {
    return execute(context, name, json->value);
  }
  return ToolResult::failed(cat("The input of ", name, " must be a JSON object."));
}

namespace {

bool is_full(const Toolkit& toolkit) {
  return toolkit.validation() == Validation::full;
}

detail::ArgumentRules rules_of(const Toolkit& toolkit) {
  return is_full(toolkit) ? detail::ArgumentRules::strict : detail::ArgumentRules::lenient;
}

Json arguments_for(const Toolkit& toolkit, const Tool& tool, const Json& arguments) {
  return is_full(toolkit) ? detail::with_nulls(tool.input_schema(), arguments) : arguments;
}

ToolResult with_its_content(Validation validation, const Tool& tool, ToolResult result) {
  bool lacks_structure = result.ok() && tool.output_schema() && !result.structured;
  if (validation != Validation::content_types || !lacks_structure) return result;
  return ToolResult::failed(
      cat("The result of ", tool.name(), " has no structured content, which its schema asks for."));
}

// Why the call is refused; empty if the tool may be called.
std::optional<ToolResult> refusal(const Toolkit& toolkit, const Tool* tool, std::string_view name,
                                  const Json& arguments) {
  if (!tool) return ToolResult::failed(unknown_tool(toolkit, name));
  if (arguments.if_object()) return std::nullopt;
  return ToolResult::failed(
      cat("The input of ", name, " must be a JSON object, not ", arguments.kind_name(), "."));
}

}  // namespace

ToolResult Toolkit::execute(ToolContext& context, std::string_view name,
                            const Json& arguments) const {
  const Tool* tool = find(name);
  if (auto refused = refusal(*this, tool, name, arguments)) return *std::move(refused);
  ToolResult result = tool->call(context, arguments_for(*this, *tool, arguments), rules_of(*this));
  return with_its_content(validation(), *tool, std::move(result));
}

void Toolkit::start(const std::shared_ptr<ToolContext>& context, std::string_view name,
                    const Json& arguments, std::function<void(ToolResult)> done) const {
  const Tool* tool = find(name);
  if (auto refused = refusal(*this, tool, name, arguments)) return done(*std::move(refused));
  tool->start(context, arguments_for(*this, *tool, arguments), rules_of(*this),
              [tool = *tool, validation = validation(), done = std::move(done)](ToolResult result) {
                done(with_its_content(validation, tool, std::move(result)));
              });
}

// ---- Copies -------------------------------------------------------------------------------------

Toolkit Toolkit::only(const std::vector<std::string>& names) const {
  Toolkit out = *this;
  out.options_.tools.clear();
  for (const std::string& name : names) out.add(get_tool(name));
  return out;
}

Toolkit Toolkit::without(const std::vector<std::string>& names) const {
  Toolkit out = *this;
  for (const std::string& name : names) {
    get_tool(name);
    std::erase_if(out.options_.tools, [&](const Tool& tool) { return tool.name() == name; });
  }
  return out;
}

Toolkit Toolkit::plus(const Toolkit& other) const {
  Toolkit out = *this;
  for (const Tool& tool : other.tools()) out.add(tool);
  for (const std::string& rule : other.rules()) out.options_.rules.push_back(rule);
  return out;
}

}  // namespace errand::v1
