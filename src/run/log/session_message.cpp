#include "run/log/session_message.hpp"

#include "base/text.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand {
namespace {

Result<Message> parse_kept(const json::Value& value, std::string_view pointer) {
  auto message = parse_input_message(value, pointer, Origin::journal);
  if (!message) return Error(ErrorCode::internal, message.error().describe());
  return message;
}

bool are_pairs(const std::vector<Message>& steps) {
  for (std::size_t i = 0; i < steps.size(); i += 2) {
    if (i + 1 == steps.size() || steps[i].calls.size() != steps[i + 1].results.size()) return false;
  }
  return true;
}

}  // namespace

std::vector<RetainedCall> retained_calls(const HistoryEntry& entry) {
  std::vector<RetainedCall> calls;
  for (std::size_t i = 0; i + 1 < entry.steps.size(); i += 2) {
    const Message& turn = entry.steps[i];
    const Message& outcomes = entry.steps[i + 1];
    for (std::size_t k = 0; k < turn.calls.size() && k < outcomes.results.size(); ++k) {
      calls.push_back({.id = turn.calls[k].id,
                       .text = k == 0 ? turn.text : "",
                       .name = turn.calls[k].name,
                       .arguments = turn.calls[k].arguments,
                       .ok = outcomes.results[k].ok,
                       .result = outcomes.results[k].text});
    }
  }
  return calls;
}

std::string to_history_entry(const HistoryEntry& entry) {
  json::Object out = to_input_json(entry.message, Origin::journal);
  if (!entry.steps.empty()) {
    json::Array steps;
    for (const Message& step : entry.steps) steps.push_back(to_input_json(step, Origin::journal));
    out["steps"] = std::move(steps);
  }
  return json::write(out);
}

Result<HistoryEntry> parse_history_entry(std::string_view body) {
  auto value = json::parse(body);
  if (!value) return Error(ErrorCode::internal, value.error().message());
  HistoryEntry entry;
  ERRAND_TRY(entry.message, parse_kept(*value, ""));
  const json::Array* steps = json::array_at(value->if_object(), "steps");
  for (std::size_t i = 0; steps && i < steps->size(); ++i) {
    ERRAND_TRY(auto step, parse_kept((*steps)[i], cat("/steps/", i)));
    entry.steps.push_back(std::move(step));
  }
  if (!are_pairs(entry.steps)) {
    return Error(ErrorCode::internal, "the calls and results of a history's message do not match");
  }
  return entry;
}

}  // namespace errand
