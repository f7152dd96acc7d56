#include <errand/mcp.hpp>
#include <utility>

#include "json/members.hpp"
#include "sdk/api/values.hpp"
#include "sdk/bridge/mcp_call.hpp"
#include "sdk/mcp/public_mcp.hpp"

namespace errand::v1::mcp {
namespace {

std::string text_at(const Json& object, std::string_view name) {
  const Json* member = object.find(name);
  const std::string* text = member ? member->if_string() : nullptr;
  return text ? *text : std::string();
}

}  // namespace

Caller Caller::of(const ToolContext& context) {
  std::shared_ptr<sdk::McpCall> call = context.host_ ? context.host_->mcp() : nullptr;
  if (!call) throw Error(ErrorCode::not_found, "the call has not come over MCP");
  return Caller(std::move(call));
}

bool Caller::can_elicit() const {
  return call_->client().elicitation;
}
bool Caller::can_sample() const {
  return call_->client().sampling;
}
bool Caller::has_roots() const {
  return call_->client().roots;
}

std::map<std::string, Json> Caller::ask(const std::map<std::string, Question>& questions) {
  std::map<std::string, errand::mcp::InputRequest> requests;
  for (const auto& [key, question] : questions) requests[key] = sdk::request_of(question);
  std::map<std::string, Json> out;
  for (const auto& member : call_->ask(std::move(requests))) {
    out[std::string(member.key())] = detail::from_value(member.value());
  }
  return out;
}

Json Caller::ask_one(Question question, std::string key) {
  if (key.empty()) key = call_->next_key();
  auto answers = ask({{key, std::move(question)}});
  return std::move(answers.begin()->second);
}

Elicited Caller::elicit(Elicitation question, std::string key) {
  Json answer = ask_one(std::move(question), std::move(key));
  Elicited out;
  const std::string action = text_at(answer, "action");
  if (action == "accept") out.action = Elicited::Action::accept;
  if (action == "cancel") out.action = Elicited::Action::cancel;
  const Json* content = answer.find("content");
  if (content && out.accepted()) out.content = *content;
  return out;
}

Sampled Caller::sample(Sampling question, std::string key) {
  Json answer = ask_one(std::move(question), std::move(key));
  Sampled out{.model = text_at(answer, "model"), .stop_reason = text_at(answer, "stopReason")};
  if (const Json* content = answer.find("content")) out.content = from_block(*content);
  const auto* text = out.content ? std::get_if<TextContent>(&*out.content) : nullptr;
  if (text) out.text = text->text;
  return out;
}

std::vector<Root> Caller::roots(std::string key) {
  Json answer = ask_one(ListRoots{}, std::move(key));
  std::vector<Root> out;
  const Json* roots = answer.find("roots");
  const JsonArray* all = roots ? roots->if_array() : nullptr;
  for (const Json& one : all ? *all : JsonArray()) {
    out.push_back({.uri = text_at(one, "uri"), .name = text_at(one, "name")});
  }
  return out;
}

}  // namespace errand::v1::mcp
