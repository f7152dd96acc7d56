#include "sdk/bridge/ask_user.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "run/elicitation.hpp"
#include "sdk/bridge/public_tool.hpp"

namespace errand::sdk {
namespace {

std::string text_at(const v1::Json& object, std::string_view key) {
  const v1::Json* member = object.find(key);
  const std::string* text = member ? member->if_string() : nullptr;
  return text ? *text : std::string();
}

v1::UserQuestion question_in(const v1::Json& asked) {
  v1::UserQuestion question{.tool = text_at(asked, "tool"),
                            .message = text_at(asked, "message"),
                            .url = text_at(asked, "url")};
  if (const v1::Json* schema = asked.find("requestedSchema")) question.schema = *schema;
  return question;
}

std::string_view name_of(v1::mcp::Elicited::Action action) {
  using Action = v1::mcp::Elicited::Action;
  switch (action) {
    case Action::accept: return "accept";
    case Action::decline: return "decline";
    case Action::cancel: return "cancel";
  }
  return "decline";
}

}  // namespace

ToolPtr ask_user_tool(Handlers& handlers, v1::AskUser ask) {
  auto answer = [ask = std::move(ask)](const v1::Json& asked) {
    const v1::mcp::Elicited said = ask(question_in(asked));
    v1::Json out = v1::Json::object({{"action", std::string(name_of(said.action))}});
    if (said.accepted()) out["content"] = said.content;
    return out.dump();
  };
  const v1::Json anything = v1::Json::object({{"type", "object"}});
  // Two clients that follow one run may both ask, and the first answer counts. So no client claims
  // a question, and a question that is left open by a process that ends is asked again.
  return bridge_tool(handlers,
                     v1::tool(std::string(kElicitationTool), "Asks the user.", anything,
                              std::move(answer), {.read_only = true, .parallel_safe = true}));
}

}  // namespace errand::sdk
