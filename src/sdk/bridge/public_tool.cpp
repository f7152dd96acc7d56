#include "sdk/bridge/public_tool.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "sdk/api/coerce.hpp"
#include "sdk/api/values.hpp"
#include "sdk/bridge/called_here.hpp"

namespace errand::sdk {
namespace {

SchemaPtr schema_of(const v1::Json& schema) {
  json::Value value = v1::detail::to_value(schema);
  return share_schema(value.is_object() ? std::move(value.get_object()) : json::Object());
}

// Who checks the arguments.
enum class ArgumentsBy { schema, tool };

// A tool checks its own results, because only the tool knows their structured content.
ToolDecl declare(const v1::Tool& tool, ArgumentsBy arguments_by) {
  const v1::ToolOptions& options = tool.options();
  ToolDecl decl{.name = tool.name(),
                .title = options.title,
                .description = tool.description(),
                .input_schema = schema_of(tool.input_schema())};
  if (const v1::Json* output = tool.output_schema()) decl.output_schema = schema_of(*output);
  decl.annotations = {.read_only = options.read_only,
                      .idempotent = options.idempotent,
                      .parallel_safe = options.parallel_safe,
                      .long_running = options.long_running,
                      .destructive = options.destructive,
                      .cancel_siblings = options.cancel_siblings_on_failure,
                      .checks_arguments = options.coerce || arguments_by == ArgumentsBy::tool,
                      .checks_results = tool.output_schema() != nullptr};
  if (options.timeout.count() > 0) {
    decl.annotations.timeout = std::min<milliseconds>(options.timeout, kToolTimeoutMax);
  }
  decl.rules = options.rules;
  return decl;
}

// A tool whose handler runs on a thread of its own.
class HandlerTool final : public Tool {
 public:
  HandlerTool(Handlers& handlers, const v1::Tool& tool, ArgumentsBy arguments_by, Handler handler)
      : handlers_(handlers),
        decl_(declare(tool, arguments_by)),
        handler_(std::move(handler)),
        cancels_siblings_(tool.options().cancel_siblings_on_failure),
        identity_(&tool.name()) {}

  const void* identity() const { return identity_; }

  const ToolDecl& decl() const override { return decl_; }

  Task<ToolOutcome> invoke(ToolCall call, ToolContext context) override {
    SteadyTime deadline = context.deadline;
    if (decl_.annotations.timeout) {
      deadline = std::min(deadline, std::chrono::steady_clock::now() + *decl_.annotations.timeout);
    }
    return handlers_.call(
        {.handler = handler_,
         .call = std::move(call),
         .tool = decl_.name,
         .deadline = deadline,
         .timeout = decl_.annotations.timeout,
         .progress = context.progress,
         .secrets = context.secrets,
         .cancels_siblings = cancels_siblings_,
         .traceparent = context.who.trace ? to_traceparent(*context.who.trace) : "",
         .caller = context.caller});
  }

 private:
  Handlers& handlers_;
  const ToolDecl decl_;
  const Handler handler_;
  const bool cancels_siblings_;
  const void* const identity_;  // shared by all copies of a tool and kept by the handler
};

// A tool of the engine behind a public tool.
class BuiltinTool final : public Tool {
 public:
  BuiltinTool(v1::Tool tool, ToolPtr inner) : tool_(std::move(tool)), inner_(std::move(inner)) {}

  const void* identity() const { return &tool_.name(); }

  const ToolDecl& decl() const override { return inner_->decl(); }
  Task<ToolOutcome> invoke(ToolCall call, ToolContext context) override {
    return inner_->invoke(std::move(call), context);
  }

 private:
  const v1::Tool tool_;  // keeps the objects alive that the engine's tool uses
  const ToolPtr inner_;
};

ToolPtr builtin_tool(const v1::Tool& tool) {
  ToolPtr inner = engine_tool_of(tool);
  return inner ? std::make_shared<BuiltinTool>(tool, std::move(inner)) : nullptr;
}

const void* identity_of(const Tool& tool) {
  if (const auto* one = dynamic_cast<const HandlerTool*>(&tool)) return one->identity();
  const auto* builtin = dynamic_cast<const BuiltinTool*>(&tool);
  return builtin ? builtin->identity() : nullptr;
}

// A toolkit that only partly checks arguments coerces them; one that checks them fully adds missing
// nulls.
ArgumentsBy arguments_by(const v1::Toolkit& toolkit, const v1::Tool& tool) {
  bool is_full = toolkit.validation() == v1::Validation::full;
  bool is_plain = is_full && !v1::detail::adds_nulls(tool.input_schema());
  return is_plain ? ArgumentsBy::schema : ArgumentsBy::tool;
}

void add_rules(std::string& out, const std::vector<std::string>& rules) {
  for (const std::string& rule : rules) append(out, out.empty() ? "" : "\n", "- ", rule);
}

}  // namespace

ToolDecl decl_of(const v1::Tool& tool) {
  return declare(tool, ArgumentsBy::tool);
}

ToolPtr bridge_tool(Handlers& handlers, const v1::Tool& tool) {
  if (ToolPtr builtin = builtin_tool(tool)) return builtin;
  return std::make_shared<HandlerTool>(
      handlers, tool, ArgumentsBy::schema,
      [tool](const std::shared_ptr<v1::ToolContext>& context, const v1::Json& arguments,
             HandlerDone done) { tool.start(context, arguments, std::move(done)); });
}

std::vector<ToolPtr> bridge_toolkit(Handlers& handlers, const v1::Toolkit& toolkit) {
  auto shared = std::make_shared<const v1::Toolkit>(toolkit);
  std::vector<ToolPtr> out;
  for (const v1::Tool& tool : shared->tools()) {
    const ArgumentsBy by = arguments_by(*shared, tool);
    ToolPtr builtin = by == ArgumentsBy::schema ? builtin_tool(tool) : nullptr;
    if (builtin) {
      out.push_back(std::move(builtin));
      continue;
    }
    out.push_back(std::make_shared<HandlerTool>(
        handlers, tool, by,
        [shared, name = tool.name()](const std::shared_ptr<v1::ToolContext>& context,
                                     const v1::Json& arguments, HandlerDone done) {
          shared->start(context, name, arguments, std::move(done));
        }));
  }
  return out;
}

bool is_same_tool(const Tool& a, const Tool& b) {
  const void* one = identity_of(a);
  return one && one == identity_of(b);
}

Result<std::vector<ToolPtr>> bridge_tools(Handlers& handlers, const std::vector<v1::Tool>& tools,
                                          const std::vector<v1::Toolkit>& toolkits) {
  std::vector<ToolPtr> out;
  for (const v1::Tool& tool : tools) out.push_back(bridge_tool(handlers, tool));
  for (const v1::Toolkit& toolkit : toolkits) {
    std::vector<ToolPtr> more = bridge_toolkit(handlers, toolkit);
    std::move(more.begin(), more.end(), std::back_inserter(out));
  }
  std::set<std::string_view> names;
  for (const ToolPtr& tool : out) {
    const std::string& name = tool->decl().name;
    if (names.insert(name).second) continue;
    return Error(ErrorCode::conflict, cat("two tools are named ", name));
  }
  return out;
}

namespace {

std::string rules_of(const std::vector<v1::Tool>& tools, const std::vector<v1::Toolkit>& toolkits) {
  std::string rules;
  for (const v1::Tool& tool : tools) add_rules(rules, tool.options().rules);
  for (const v1::Toolkit& toolkit : toolkits) {
    add_rules(rules, toolkit.rules());
    for (const v1::Tool& tool : toolkit.tools()) add_rules(rules, tool.options().rules);
  }
  return rules;
}

}  // namespace

bool has_rules(const std::vector<v1::Tool>& tools, const std::vector<v1::Toolkit>& toolkits) {
  return !rules_of(tools, toolkits).empty();
}

std::string with_rules(std::string system_prompt, const std::vector<v1::Tool>& tools,
                       const std::vector<v1::Toolkit>& toolkits) {
  std::string rules = rules_of(tools, toolkits);
  if (rules.empty()) return system_prompt;
  return cat(system_prompt, system_prompt.empty() ? "" : "\n\n", rules);
}

}  // namespace errand::sdk
