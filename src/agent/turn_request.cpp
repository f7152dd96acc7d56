#include "agent/turn_request.hpp"

#include <utility>

#include "llm/answer_tool.hpp"

namespace errand::agent {
namespace {

llm::MessageList whole_conversation(const State& state) {
  llm::MessageList messages = state.past().messages();
  messages.append(state.messages());
  return messages;
}

}  // namespace

llm::TurnRequest make_turn_request(const State& state,
                                   std::shared_ptr<const llm::TurnFiles> files) {
  const CreatedEntry& created = state.created();
  llm::TurnRequest request{.system_prompt = state.system_prompt(),
                           .messages = whole_conversation(state),
                           .tools = state.tools(),
                           .reasoning_level = created.spec.reasoning_level,
                           .tools_off = state.turn().tools_off,
                           .files = std::move(files)};
  const Sparse<OutputSchema>& output = created.spec.output_schema;
  if (!output) return request;
  request.output_schema = output->schema;
  request.output_name = output->name;
  if (state.is_asked_plainly()) {
    request.system_prompt = llm::share_text(llm::prompt_with_schema(request));
    request.output_schema = nullptr;
    request.is_json = true;
  }
  return request;
}

}  // namespace errand::agent
