#include "llm/answer_tool.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "json/write.hpp"

namespace errand::llm {
namespace {

class AnswerToolDecoder final : public StreamDecoder {
 public:
  AnswerToolDecoder(std::unique_ptr<StreamDecoder> inner, std::string name)
      : inner_(std::move(inner)), name_(std::move(name)) {}

  std::vector<TurnEvent> feed(std::string_view name, std::string_view data) override {
    return translate(inner_->feed(name, data));
  }
  std::vector<TurnEvent> finish() override { return translate(inner_->finish()); }
  std::optional<milliseconds> retry_after() const override { return inner_->retry_after(); }

 private:
  std::vector<TurnEvent> translate(std::vector<TurnEvent> events) {
    std::vector<TurnEvent> out;
    for (TurnEvent& event : events) take(std::move(event), out);
    return out;
  }

  void take(TurnEvent event, std::vector<TurnEvent>& out) {
    if (std::holds_alternative<TextDelta>(event) || std::holds_alternative<BlockClosed>(event)) {
      held_.push_back(std::move(event));
    } else if (auto* call = std::get_if<CallClosed>(&event)) {
      take_call(std::move(*call), out);
    } else if (auto* finished = std::get_if<Finished>(&event)) {
      end(std::move(*finished), out);
    } else {
      out.push_back(std::move(event));
    }
  }

  void take_call(CallClosed call, std::vector<TurnEvent>& out) {
    if (call.name != name_) {
      has_calls_ = true;
      release(out);
      out.emplace_back(std::move(call));
      return;
    }
    // The answer tool's call is dropped together with its block.
    if (!held_.empty() && std::holds_alternative<BlockClosed>(held_.back())) held_.pop_back();
    if (!answer_) answer_ = call.arguments.empty() ? "{}" : std::move(call.arguments);
  }

  void end(Finished finished, std::vector<TurnEvent>& out) {
    if (answer_ && !has_calls_) {
      out.emplace_back(TextDelta{std::move(*answer_)});
      if (finished.finish_reason == "tool_use") finished.finish_reason = "end_turn";
    } else {
      release(out);
    }
    out.emplace_back(std::move(finished));
  }

  void release(std::vector<TurnEvent>& out) {
    for (TurnEvent& event : held_) out.push_back(std::move(event));
    held_.clear();
  }

  const std::unique_ptr<StreamDecoder> inner_;
  const std::string name_;
  std::vector<TurnEvent> held_;
  std::optional<std::string> answer_;
  bool has_calls_ = false;
};

}  // namespace

ToolDecl answer_tool(const TurnRequest& request) {
  std::string name = "final_report";
  auto is_taken = [&](const ToolDecl& tool) { return tool.name == name; };
  while (std::any_of(request.tools->begin(), request.tools->end(), is_taken)) name += '_';
  return {.name = std::move(name),
          .description = "Hands in the final answer. Call it once, when everything else is done.",
          .input_schema = request.output_schema};
}

std::unique_ptr<StreamDecoder> with_answer_tool(std::unique_ptr<StreamDecoder> inner,
                                                std::string name) {
  return std::make_unique<AnswerToolDecoder>(std::move(inner), std::move(name));
}

std::string prompt_with_schema(const TurnRequest& request) {
  std::string out = *request.system_prompt;
  if (!out.empty()) out += "\n\n";
  out += "Give the final answer as JSON of this JSON Schema, and nothing else: ";
  json::write(out, *request.output_schema);
  return out;
}

}  // namespace errand::llm
