// Parses stored lines into events.
#include <concepts>
#include <limits>
#include <utility>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "run/log/event.hpp"

namespace errand {
namespace {

// Takes the known members out of an object, so that the unknown ones are left. An absent member
// reads as empty; the first member with a wrong type is remembered.
class Taker final {
 public:
  explicit Taker(json::Object members) : members_(std::move(members)) {}

  std::string text(std::string_view key) { return optional_text(key).value_or(""); }

  std::optional<std::string> optional_text(std::string_view key) {
    json::Value value = take(key);
    if (value.is_null() || !check(value.is_string(), key)) return {};
    return std::string(json::view(value.get_string()));
  }

  std::optional<bool> optional_flag(std::string_view key) {
    json::Value value = take(key);
    if (value.is_null() || !check(value.is_bool(), key)) return {};
    return value.get_bool();
  }

  std::optional<double> optional_number(std::string_view key) {
    json::Value value = take(key);
    if (value.is_null() || !check(value.is_number(), key)) return {};
    return value.to_number<double>();
  }

  template <std::integral N>
  N integer(std::string_view key) {
    json::Value value = take(key);
    bool is_there = !value.is_null() && check(value.is_int64(), key);
    if (!is_there || !check(std::in_range<N>(value.get_int64()), key)) return 0;
    return static_cast<N>(value.get_int64());
  }

  // The text of a call's arguments, which may be any JSON.
  std::string json_text(std::string_view key) {
    json::Value value = take(key);
    return value.is_null() ? "{}" : json::write(value);
  }

  ToolUseId tool_use(std::string_view key) {
    std::string text = this->text(key);
    auto id = ToolUseId::parse(text);
    check(text.empty() || id.has_value(), key);
    return id.value_or(ToolUseId());
  }

  json::Array array(std::string_view key) {
    json::Value value = take(key);
    if (value.is_null() || !check(value.is_array(), key)) return {};
    return std::move(value.get_array());
  }

  json::Value take(std::string_view key) {
    auto found = members_.find(key);
    if (found == members_.end()) return {};
    json::Value value = std::move(found->value());
    members_.stable_erase(found);
    return value;
  }

  // The members that were not taken.
  json::Object rest() { return std::exchange(members_, {}); }

  Result<void> finish() const {
    if (wrong_.empty()) return {};
    return Error(ErrorCode::internal, cat("\"", wrong_, "\" of an event is not what it should be"));
  }

 private:
  bool check(bool is_right, std::string_view key) {
    if (!is_right && wrong_.empty()) wrong_ = key;
    return is_right;
  }

  json::Object members_;
  std::string wrong_;
};

void read(Taker& in, AssistantDelta& event) {
  event.text = in.text("text");
}

void read(Taker& in, ThinkingDelta& event) {
  event.text = in.text("text");
}

void read(Taker& in, AssistantMessage& event) {
  event.text = in.text("text");
  event.turn = in.integer<int>("turn");
  event.finish_reason = in.text("finishReason");
  for (json::Value& item : in.array("toolCalls")) {
    if (!item.is_object()) continue;
    Taker call(std::move(item.get_object()));
    event.calls.push_back(
        {.id = call.tool_use("id"), .name = call.text("name"), .input = call.json_text("input")});
  }
}

void read(Taker& in, LocalToolCall& event) {
  event.id = in.tool_use("toolUseId");
  event.name = in.text("name");
  event.args = in.json_text("args");
  event.kind = in.optional_text("kind").value_or(event.kind);
  json::Object rest = in.rest();
  if (!rest.empty()) event.echo = std::make_shared<const json::Object>(std::move(rest));
}

std::vector<FilePart> read_files(Taker& in) {
  std::vector<FilePart> files;
  for (json::Value& item : in.array("files")) {
    if (!item.is_object()) continue;
    Taker file(std::move(item.get_object()));
    files.push_back({.filename = file.text("filename"),
                     .mime_type = file.text("mimeType"),
                     .size = file.integer<std::int64_t>("size")});
  }
  return files;
}

void read(Taker& in, LocalToolResultIn& event) {
  event.id = in.tool_use("toolUseId");
  event.name = in.text("name");
  auto error = in.optional_text("error");
  event.ok = !error;
  event.text = in.text("result");
  if (error) event.text = std::move(*error);
  in.take("output");
  in.take("truncated");
  event.full_length = in.integer<std::size_t>("fullLength");
  event.files = read_files(in);
}

void read(Taker& in, ToolCallStarted& event) {
  event.id = in.tool_use("toolUseId");
  event.name = in.text("name");
  event.input = in.json_text("input");
  event.child_run = RunId::parse(in.text("childRunId")).value_or(RunId());
}

void read(Taker& in, ToolResultEvent& event) {
  event.id = in.tool_use("toolUseId");
  event.name = in.text("name");
  event.ok = in.optional_flag("ok").value_or(true);
  event.text = in.text("result");
  in.take("summary");
  in.take("truncated");
  event.full_length = in.integer<std::size_t>("fullLength");
  event.files = read_files(in);
}

void read(Taker& in, ToolProgress& event) {
  event.id = in.tool_use("toolUseId");
  event.name = in.text("name");
  event.message = in.text("message");
  event.progress = in.optional_number("progress");
  event.total = in.optional_number("total");
  event.child_run = RunId::parse(in.text("childRunId")).value_or(RunId());
}

void read(Taker& in, LoopDetected& event) {
  event.count = in.integer<int>("consecutiveCount");
  event.hard_cutoff = in.optional_flag("hardCutoff").value_or(false);
  for (const json::Value& tool : in.array("tools")) {
    if (tool.is_string()) event.tools.emplace_back(json::view(tool.get_string()));
  }
}

void read(Taker& in, ToolBudgetExceeded& event) {
  event.tool = in.text("tool");
  event.max_calls = in.integer<int>("maxCalls");
  event.call_index = in.integer<int>("callIndex");
}

void read(Taker& in, TurnRestarted& event) {
  event.turn = in.integer<int>("turn");
  event.attempt = in.integer<int>("attempt");
}

void read(Taker& in, RunTotals& totals) {
  totals.usage = parse_usage(in.take("tokens"));
  totals.turns = in.integer<int>("turns");
  totals.model = parse_model_info(in.take("model"));
  json::Value output = in.take("structuredOutput");
  if (output.is_object()) totals.output = parse_structured_output(output);
  json::Value cost = in.take("costUsd");
  if (cost.is_number()) totals.cost_usd = cost.to_number<double>();
}

void read(Taker& in, ResultEvent& event) {
  event.subtype = in.text("subtype");
  event.text = in.text("text");
  if (auto error = in.optional_text("error")) event.text = std::move(*error);
  in.take("ok");
  in.take("message");
  read(in, event.totals);
}

void read(Taker& in, ErrorEvent& event) {
  event.message = in.text("error");
  event.error_class = in.text("errorClass");
  in.take("message");
  in.take("code");
  event.finish_reason = in.text("finishReason");
  event.partial_text = in.optional_text("partialText");
  event.api_status = in.integer<int>("apiStatus");
  event.api_code = in.text("apiCode");
  event.retryable = in.optional_flag("retryable").value_or(false);
  read(in, event.totals);
}

void read(Taker& in, CancelledEvent& event) {
  event.reason = in.text("reason");
  read(in, event.totals);
}

// Reads the members as those of the alternative of Event whose type this is.
template <std::size_t I = 0>
Event read_event(Taker& in, std::string&& type) {
  using T = std::variant_alternative_t<I, Event>;
  if constexpr (std::same_as<T, UnknownEvent>) {
    return UnknownEvent{.type = std::move(type), .fields = in.rest()};
  } else {
    if (type != T::kType) return read_event<I + 1>(in, std::move(type));
    T event;
    read(in, event);
    return event;
  }
}

}  // namespace

Result<StampedEvent> parse_event(json::Object members) {
  Taker in(std::move(members));
  StampedEvent out{.seq = in.integer<EventSeq>("seq"), .event = UnknownEvent()};
  std::string type = in.text("type");
  if (out.seq < 1) return Error(ErrorCode::internal, "an event has no number");
  if (type.empty()) return Error(ErrorCode::internal, "an event has no type");
  out.event = read_event(in, std::move(type));
  ERRAND_CHECK(in.finish());
  out.more = in.rest();
  return out;
}

Result<StampedEvent> parse_event(std::string_view line) {
  auto value = json::parse(line, {.duplicate_keys = json::DuplicateKeys::last_wins});
  if (!value || !value->is_object()) {
    return Error(ErrorCode::internal, "an event is not a JSON object");
  }
  return parse_event(std::move(value->get_object()));
}

Result<LocalToolCall> parse_local_call(json::Object members) {
  Taker in(std::move(members));
  LocalToolCall call;
  read(in, call);
  ERRAND_CHECK(in.finish());
  return call;
}

}  // namespace errand
