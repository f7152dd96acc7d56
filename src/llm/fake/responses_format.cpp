// OpenAI's Responses API, from the vendor's side.
#include <utility>

#include "base/text.hpp"
#include "json/write.hpp"
#include "llm/fake/encoding.hpp"
#include "llm/members.hpp"

namespace errand::llm {
namespace {

constexpr std::string_view kIdPrefix = "resp_";
constexpr std::string_view kEncrypted = "c2VhbGVkIGJ5IGEgZmFrZQ==";  // "sealed by a fake"

// The id ends with the number of the turn. So the next request may name it instead of repeating the
// conversation, and the server keeps no state.
std::string response_id(const FakeAnswer& answer) {
  return cat(kIdPrefix, answer.seed, "_", answer.number);
}

// The number of turns in a conversation that continues from this response.
std::optional<std::size_t> turns_up_to(std::string_view id) {
  std::size_t mark = id.rfind('_');
  if (!id.starts_with(kIdPrefix) || mark < kIdPrefix.size()) return {};
  auto number = parse_integer<std::uint32_t>(id.substr(mark + 1));
  if (!number) return {};
  return std::size_t{*number} + 1;
}

json::Object responses_usage(const Usage& usage) {
  return {
      {"input_tokens", usage.input_tokens},
      {"input_tokens_details", {{"cached_tokens", usage.cached_tokens}, {"cache_write_tokens", 0}}},
      {"output_tokens", usage.output_tokens},
      {"output_tokens_details", {{"reasoning_tokens", usage.reasoning_tokens}}},
      {"total_tokens", usage.input_tokens + usage.output_tokens}};
}

// The response before it has any output. It repeats members of the request.
json::Object begun(const FakeAnswer& answer) {
  json::Object out{{"id", response_id(answer)},
                   {"object", "response"},
                   {"created_at", answer.created_at},
                   {"status", "in_progress"},
                   {"background", false},
                   {"completed_at", nullptr},
                   {"error", nullptr},
                   {"incomplete_details", nullptr},
                   {"instructions", nullptr},
                   {"max_output_tokens", nullptr},
                   {"max_tool_calls", nullptr},
                   {"model", answer.model},
                   {"output", json::Array()},
                   {"parallel_tool_calls", true},
                   {"previous_response_id", nullptr},
                   {"prompt_cache_key", nullptr},
                   {"reasoning", {{"effort", nullptr}, {"summary", nullptr}}},
                   {"safety_identifier", nullptr},
                   {"service_tier", "default"},
                   {"store", true},
                   {"temperature", 1.0},
                   {"text", {{"format", {{"type", "text"}}}, {"verbosity", "medium"}}},
                   {"tool_choice", "auto"},
                   {"tools", json::Array()},
                   {"top_logprobs", 0},
                   {"top_p", 1.0},
                   {"truncation", "disabled"},
                   {"access_programs", nullptr},
                   {"usage", nullptr},
                   {"user", nullptr},
                   {"metadata", json::Object()}};
  for (std::string_view key :
       {"instructions", "max_output_tokens", "max_tool_calls", "parallel_tool_calls",
        "previous_response_id", "prompt_cache_key", "reasoning", "safety_identifier", "store",
        "temperature", "text", "tool_choice", "tools", "top_p", "truncation", "user", "metadata"}) {
    const json::Value* said = answer.request.if_contains(key);
    if (said && !said->is_null()) out[key] = *said;
  }
  return out;
}

// Why the response is incomplete; empty if it is complete.
std::string cut_by(const ScriptedTurn& turn) {
  std::string_view reason = reason_of(turn);
  if (reason == "max_tokens") return "max_output_tokens";
  bool is_cut = reason == "max_output_tokens" || reason == "content_filter";
  return is_cut ? std::string(reason) : std::string();
}

json::Object ended(const FakeAnswer& answer, json::Array output) {
  std::string cut = cut_by(answer.turn);
  json::Object out = begun(answer);
  out["status"] = cut.empty() ? "completed" : "incomplete";
  if (cut.empty()) out["completed_at"] = answer.created_at;
  if (!cut.empty()) out["incomplete_details"] = {{"reason", cut}};
  out["output"] = std::move(output);
  out["usage"] = responses_usage(answer.turn.usage);
  return out;
}

class ResponsesEncoder final : public PieceEncoder {
 public:
  explicit ResponsesEncoder(const FakeAnswer& answer)
      : answer_(answer),
        text_kind_(reason_of(answer.turn) == "refusal" ? "refusal" : "output_text"),
        text_field_(text_kind_ == "refusal" ? "refusal" : "text") {}

  std::string open() override {
    return event("response.created", {{"response", begun(answer_)}}) +
           event("response.in_progress", {{"response", begun(answer_)}});
  }

  std::string think(std::string_view piece) override {
    std::string out;
    if (!std::exchange(is_thinking_, true)) {
      out = event("response.output_item.added", {{"item", reasoning_item("")}});
      out += event("response.reasoning_summary_part.added", at_summary({{"part", summary("")}}));
    }
    text_ += piece;
    return out + event("response.reasoning_summary_text.delta", at_summary({{"delta", piece}}));
  }

  std::string say(std::string_view piece) override {
    std::string out = leave_thinking();
    if (!std::exchange(is_saying_, true)) {
      out += event("response.output_item.added", {{"item", message_item("in_progress", {})}});
      out += event("response.content_part.added", at_content({{"part", content("")}}));
    }
    text_ += piece;
    json::Object delta = at_content({{"delta", piece}});
    if (text_field_ == "text") delta["logprobs"] = json::Array();
    return out + event(cat("response.", text_kind_, ".delta"), std::move(delta));
  }

  std::string call(const ScriptedCall& call, std::size_t index) override {
    std::string out = leave_thinking() + leave_message();
    std::string id = item_id("fc");
    out += event("response.output_item.added",
                 {{"item", call_item(call, index, {.arguments = "", .status = "in_progress"})}});
    for (std::string_view piece : fragments_of(call.arguments)) {
      out += event("response.function_call_arguments.delta", {{"item_id", id}, {"delta", piece}});
    }
    out += event("response.function_call_arguments.done",
                 {{"item_id", id}, {"name", call.name}, {"arguments", call.arguments}});
    return out +
           close_item(call_item(call, index, {.arguments = call.arguments, .status = "completed"}));
  }

  std::string close() override {
    std::string out = leave_thinking() + leave_message();
    std::string_view name =
        cut_by(answer_.turn).empty() ? "response.completed" : "response.incomplete";
    return out + plain_event(name, {{"response", ended(answer_, items_)}});
  }

  // Only after close().
  json::Array take_items() { return std::move(items_); }

 private:
  struct CallState {
    std::string_view arguments;
    std::string_view status;
  };

  std::string item_id(std::string_view kind) const {
    return cat(kind, "_", answer_.seed, "_", items_.size());
  }

  static json::Object summary(std::string_view text) {
    return {{"type", "summary_text"}, {"text", text}};
  }
  json::Object reasoning_item(std::string_view text) const {
    json::Array parts;
    if (!text.empty()) parts.push_back(summary(text));
    return {{"id", item_id("rs")},
            {"type", "reasoning"},
            {"summary", std::move(parts)},
            {"encrypted_content", text.empty() ? "" : kEncrypted}};
  }
  json::Object content(std::string_view text) const {
    if (text_field_ == "refusal") return {{"type", "refusal"}, {"refusal", text}};
    return {{"type", "output_text"},
            {"annotations", json::Array()},
            {"logprobs", json::Array()},
            {"text", text}};
  }
  json::Object message_item(std::string_view status, json::Array parts) const {
    return {{"id", item_id("msg")},
            {"type", "message"},
            {"status", status},
            {"content", std::move(parts)},
            {"phase", answer_.turn.calls.empty() ? "final_answer" : "commentary"},
            {"role", "assistant"}};
  }
  json::Object call_item(const ScriptedCall& call, std::size_t index, CallState state) const {
    return {{"id", item_id("fc")},
            {"type", "function_call"},
            {"status", state.status},
            {"arguments", state.arguments},
            {"call_id", cat("call_", answer_.seed, "_", index)},
            {"name", call.name}};
  }

  json::Object at_summary(json::Object fields) const {
    fields["item_id"] = item_id("rs");
    fields["summary_index"] = 0;
    return fields;
  }
  json::Object at_content(json::Object fields) const {
    fields["item_id"] = item_id("msg");
    fields["content_index"] = 0;
    return fields;
  }

  std::string leave_thinking() {
    if (!std::exchange(is_thinking_, false)) return {};
    std::string text = std::exchange(text_, {});
    return event("response.reasoning_summary_text.done", at_summary({{"text", text}})) +
           event("response.reasoning_summary_part.done", at_summary({{"part", summary(text)}})) +
           close_item(reasoning_item(text));
  }

  std::string leave_message() {
    if (!std::exchange(is_saying_, false)) return {};
    std::string text = std::exchange(text_, {});
    json::Object whole = at_content({{text_field_, text}});
    if (text_field_ == "text") whole["logprobs"] = json::Array();
    std::string out = event(cat("response.", text_kind_, ".done"), std::move(whole));
    out += event("response.content_part.done", at_content({{"part", content(text)}}));
    std::string_view status = cut_by(answer_.turn).empty() ? "completed" : "incomplete";
    return out + close_item(message_item(status, json::Array{content(text)}));
  }

  std::string close_item(json::Object item) {
    std::string out = event("response.output_item.done", {{"item", item}});
    items_.push_back(std::move(item));
    return out;
  }

  // An event about the item being written.
  std::string event(std::string_view type, json::Object fields) {
    if (!fields.contains("response")) fields["output_index"] = items_.size();
    return plain_event(type, std::move(fields));
  }
  std::string plain_event(std::string_view type, const json::Object& fields) {
    json::Object data{{"type", type}, {"sequence_number", sequence_++}};
    for (const auto& [key, value] : fields) data[key] = value;
    return named_frame(data);
  }

  const FakeAnswer& answer_;
  const std::string_view text_kind_;
  const std::string_view text_field_;
  bool is_thinking_ = false;
  bool is_saying_ = false;
  std::string text_;   // of the item being written
  json::Array items_;  // the complete ones
  std::size_t sequence_ = 0;
};

// Whether an item of the input is part of the model's output.
bool is_answer(const json::Object* item) {
  std::string_view type = text_at(item, "type");
  if (type.empty() || type == "message") return text_at(item, "role") == "assistant";
  return !type.ends_with("_output") && !type.ends_with("_response") && type != "compaction";
}

class ResponsesFormat final : public FakeFormat {
 public:
  Result<FakeRequest> read(const json::Object& body) const override {
    FakeRequest out;
    ERRAND_TRY(out.model, read_model(body));
    ERRAND_TRY(out.turn, read_former(body));
    const json::Value* input = body.if_contains("input");
    if (!input || !input->is_string()) {
      ERRAND_TRY(const json::Array* items, read_conversation(body, "input"));
      // Items of one turn follow each other without a break, and the items between turns are the
      // client's.
      bool was_answer = false;
      OpenCalls open;
      for (const json::Value& item : *items) {
        const json::Object* object = item.if_object();
        bool is_one = is_answer(object);
        if (is_one && !was_answer) ++out.turn;
        was_answer = is_one;
        std::string_view type = text_at(object, "type");
        if (type == "function_call") open.call(text_at(object, "call_id"));
        if (type == "function_call_output") open.answer(text_at(object, "call_id"));
      }
      ERRAND_CHECK(open.check());
    }
    out.streams = flag_at(&body, "stream");
    return out;
  }

  FakeStream stream(const FakeAnswer& answer) const override {
    ResponsesEncoder encoder(answer);
    return encode(encoder, answer.turn);
  }

  // The same items as in a stream.
  std::string whole(const FakeAnswer& answer) const override {
    ResponsesEncoder encoder(answer);
    encode(encoder, answer.turn);
    return json::write(ended(answer, encoder.take_items()));
  }

  std::string error(const FakeError& error) const override { return openai_error(error); }

 private:
  static Result<std::size_t> read_former(const json::Object& body) {
    const json::Value* conversation = body.if_contains("conversation");
    if (conversation && !conversation->is_null()) {
      return Error(ErrorCode::invalid_argument,
                   "Unsupported parameter: 'conversation'. This fake keeps no conversations; send "
                   "'previous_response_id' or the items of earlier turns.");
    }
    const json::Value* former = body.if_contains("previous_response_id");
    if (!former || former->is_null()) return std::size_t{0};
    auto turns = turns_up_to(text_at(&body, "previous_response_id"));
    if (turns) return *turns;
    return Error(ErrorCode::invalid_argument,
                 cat("Previous response with id '", text_at(&body, "previous_response_id"),
                     "' not found."))
        .reason("previous_response_not_found");
  }
};

}  // namespace

std::unique_ptr<FakeFormat> make_fake_responses() {
  return std::make_unique<ResponsesFormat>();
}

}  // namespace errand::llm
