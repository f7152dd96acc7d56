#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <errand/content.hpp>
#include <errand/json.hpp>
#include <errand/tool.hpp>
#include <errand/tool_context.hpp>

namespace errand::ERRAND_V1 {

// What a toolkit checks before and after a call. The input must be a JSON object in every mode.
enum class Validation : std::uint8_t {
  none,           // arguments are coerced, and unknown members are left out
  content_types,  // the same; a tool with an output schema must give structured content
  full,           // arguments and results must fit their schemas
};

struct ToolkitOptions {
  std::string name;
  std::string title = {};  // for people; the name if empty
  std::string description = {};
  std::string version = {};
  std::string thumbnail_url = {};
  std::vector<std::string> rules = {};  // guidance that is added to the system prompt
  JsonObject defs = {};                 // for "$ref": "#/$defs/NAME" in the schemas of the tools
  std::vector<Tool> tools = {};
  Validation validation = Validation::full;
  bool is_public = true;  // whether others may find the toolkit where it is hosted
};

// A named group of tools. A plain value; safe to read from any thread.
class Toolkit final {
 public:
  // Throws an Error: invalid_argument for a name that is empty or a wrong schema, conflict for two
  // tools of a name.
  explicit Toolkit(ToolkitOptions options);

  const std::string& name() const { return options_.name; }
  const std::string& title() const {
    return options_.title.empty() ? options_.name : options_.title;
  }
  const std::string& description() const { return options_.description; }
  const std::string& version() const { return options_.version; }
  const std::string& thumbnail_url() const { return options_.thumbnail_url; }
  const std::vector<std::string>& rules() const { return options_.rules; }
  const JsonObject& defs() const { return options_.defs; }
  const std::vector<Tool>& tools() const { return options_.tools; }
  Validation validation() const { return options_.validation; }
  bool is_public() const { return options_.is_public; }

  // Throws an Error (conflict) if there is a tool of this name.
  void add(Tool tool);

  // Null if there is none.
  const Tool* find(std::string_view name) const;
  // Throws an Error (not_found) that lists the tools and the closest name.
  const Tool& get_tool(std::string_view name) const;

  // Calls a tool. The input is a JSON object, or EmptyContent for none. A name that is unknown, and
  // input that does not fit, give failed results.
  ToolResult execute(ToolContext& context, std::string_view name, const Content& input) const;
  ToolResult execute(ToolContext& context, std::string_view name, const Json& arguments) const;
  // The same without waiting; see Tool::start.
  void start(const std::shared_ptr<ToolContext>& context, std::string_view name,
             const Json& arguments, std::function<void(ToolResult result)> done) const;

  // Copies with these tools alone, without them, or with all tools and rules of another toolkit.
  // Throw an Error: not_found for an unknown name, conflict for two tools of a name.
  Toolkit only(const std::vector<std::string>& names) const;
  Toolkit without(const std::vector<std::string>& names) const;
  Toolkit plus(const Toolkit& other) const;

 private:
  ToolkitOptions options_;
};

}  // namespace errand::ERRAND_V1
