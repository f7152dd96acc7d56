// Anthropic's Messages API, from the vendor's side.
#include <algorithm>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "llm/fake/encoding.hpp"
#include "llm/members.hpp"

namespace errand::llm {
namespace {

constexpr std::string_view kThinkingSignature = "c2lnbmVkIGJ5IGEgZmFrZQ==";  // "signed by a fake"

std::string stop_reason(const ScriptedTurn& turn) {
  return translate(reason_of(turn), {{"content_filter", "refusal"}});
}

json::Value stop_details(const ScriptedTurn& turn) {
  if (stop_reason(turn) != "refusal") return nullptr;
  return {{"type", "refusal"}, {"category", nullptr}, {"explanation", nullptr}};
}

// The members of both kinds of token counts. The vendor's input count does not include cached
// tokens.
json::Object counts_of(const Usage& usage) {
  return {{"input_tokens", std::max<std::int64_t>(0, usage.input_tokens - usage.cached_tokens)},
          {"cache_creation_input_tokens", 0},
          {"cache_read_input_tokens", usage.cached_tokens},
          {"output_tokens", usage.output_tokens},
          {"output_tokens_details", {{"thinking_tokens", usage.reasoning_tokens}}},
          {"server_tool_use", nullptr}};
}

json::Object anthropic_usage(const Usage& usage) {
  json::Object out = counts_of(usage);
  out["cache_creation"] = {{"ephemeral_5m_input_tokens", 0}, {"ephemeral_1h_input_tokens", 0}};
  out["inference_geo"] = nullptr;
  out["service_tier"] = "standard";
  out["speed"] = nullptr;
  return out;
}

json::Object message_of(const FakeAnswer& answer, const Usage& usage) {
  return {{"id", cat("msg_", answer.seed)},
          {"type", "message"},
          {"role", "assistant"},
          {"model", answer.model},
          {"content", json::Array()},
          {"stop_reason", nullptr},
          {"stop_sequence", nullptr},
          {"stop_details", nullptr},
          {"container", nullptr},
          {"diagnostics", nullptr},
          {"usage", anthropic_usage(usage)}};
}

json::Object tool_use(const FakeAnswer& answer, const ScriptedCall& call, std::size_t index,
                      json::Value input) {
  return {{"type", "tool_use"},
          {"id", cat("toolu_", answer.seed, "_", index)},
          {"name", call.name},
          {"input", std::move(input)},
          {"caller", {{"type", "direct"}}}};
}

// Arguments that are not JSON at all are sent as text.
json::Value input_of(const ScriptedCall& call) {
  auto parsed = json::parse(call.arguments, {.duplicate_keys = json::DuplicateKeys::last_wins});
  if (parsed) return std::move(*parsed);
  return call.arguments.empty() ? json::Value(json::Object()) : json::Value(call.arguments);
}

class AnthropicEncoder final : public PieceEncoder {
 public:
  explicit AnthropicEncoder(const FakeAnswer& answer) : answer_(answer) {}

  std::string open() override {
    Usage first = answer_.turn.usage;
    first.output_tokens = 1;
    first.reasoning_tokens = 0;
    return named_frame({{"type", "message_start"}, {"message", message_of(answer_, first)}}) +
           named_frame({{"type", "ping"}});
  }
  std::string think(std::string_view piece) override {
    return enter(Block::thinking, {{"type", "thinking"}, {"thinking", ""}, {"signature", ""}}) +
           delta({{"type", "thinking_delta"}, {"thinking", piece}});
  }
  std::string say(std::string_view piece) override {
    return enter(Block::text, {{"type", "text"}, {"text", ""}, {"citations", nullptr}}) +
           delta({{"type", "text_delta"}, {"text", piece}});
  }
  std::string call(const ScriptedCall& call, std::size_t index) override {
    std::string out = leave();
    out += enter(Block::call, tool_use(answer_, call, index, json::Object()));
    out += delta({{"type", "input_json_delta"}, {"partial_json", ""}});
    for (std::string_view piece : fragments_of(call.arguments)) {
      out += delta({{"type", "input_json_delta"}, {"partial_json", piece}});
    }
    return out + leave();
  }
  std::string close() override {
    const ScriptedTurn& turn = answer_.turn;
    std::string out = leave();
    out += named_frame({{"type", "message_delta"},
                        {"delta",
                         {{"stop_reason", stop_reason(turn)},
                          {"stop_sequence", nullptr},
                          {"stop_details", stop_details(turn)},
                          {"container", nullptr}}},
                        {"usage", counts_of(turn.usage)}});
    return out + named_frame({{"type", "message_stop"}});
  }

 private:
  enum class Block { none, thinking, text, call };

  // Consecutive pieces of one kind go into one block.
  std::string enter(Block block, json::Object start) {
    if (open_ == block) return {};
    std::string out = leave();
    open_ = block;
    return out + named_frame({{"type", "content_block_start"},
                              {"index", index_},
                              {"content_block", std::move(start)}});
  }

  std::string leave() {
    if (open_ == Block::none) return {};
    std::string out;
    if (open_ == Block::thinking) {
      out = delta({{"type", "signature_delta"}, {"signature", kThinkingSignature}});
    }
    open_ = Block::none;
    return out + named_frame({{"type", "content_block_stop"}, {"index", index_++}});
  }

  std::string delta(json::Object delta) const {
    return named_frame(
        {{"type", "content_block_delta"}, {"index", index_}, {"delta", std::move(delta)}});
  }

  const FakeAnswer& answer_;
  Block open_ = Block::none;
  std::size_t index_ = 0;
};

struct ErrorType {
  int status;
  std::string_view type;
};
constexpr ErrorType kErrorTypes[] = {
    {400, "invalid_request_error"}, {401, "authentication_error"}, {402, "billing_error"},
    {403, "permission_error"},      {404, "not_found_error"},      {409, "conflict_error"},
    {413, "request_too_large"},     {429, "rate_limit_error"},     {504, "timeout_error"},
    {503, "overloaded_error"},      {529, "overloaded_error"},
};

std::string_view type_of(int status) {
  for (const ErrorType& one : kErrorTypes) {
    if (one.status == status) return one.type;
  }
  return status >= 500 ? "api_error" : "invalid_request_error";
}

void read_blocks(const json::Array* content, OpenCalls& open) {
  if (!content) return;
  for (const json::Value& block : *content) {
    std::string_view type = text_at(block.if_object(), "type");
    if (type == "tool_use") open.call(text_at(block.if_object(), "id"));
    if (type == "tool_result") open.answer(text_at(block.if_object(), "tool_use_id"));
  }
}

class AnthropicFormat final : public FakeFormat {
 public:
  Result<FakeRequest> read(const json::Object& body) const override {
    FakeRequest out;
    ERRAND_TRY(out.model, read_model(body));
    if (!body.contains("max_tokens")) return missing("max_tokens");
    if (!integer_at(&body, "max_tokens")) return wrong_type("max_tokens", "an integer");
    ERRAND_TRY(const json::Array* messages, read_conversation(body, "messages"));
    std::string_view former;
    OpenCalls open;
    for (std::size_t i = 0; i < messages->size(); ++i) {
      const json::Object* message = (*messages)[i].if_object();
      std::string_view role = text_at(message, "role");
      if (role != "user" && role != "assistant" && role != "system") {
        return wrong_type(cat("messages[", i, "].role"), "'user' or 'assistant'");
      }
      // The vendor takes consecutive messages of the same role for one message.
      if (role == "assistant" && former != role) ++out.turn;
      former = role;
      read_blocks(array_at(message, "content"), open);
    }
    ERRAND_CHECK(open.check());
    if (former == "assistant") {
      return Error(ErrorCode::invalid_argument,
                   "This model does not support assistant message prefill. The conversation must "
                   "end with a user message.");
    }
    out.streams = flag_at(&body, "stream");
    return out;
  }

  FakeStream stream(const FakeAnswer& answer) const override {
    AnthropicEncoder encoder(answer);
    return encode(encoder, answer.turn);
  }

  std::string whole(const FakeAnswer& answer) const override {
    const ScriptedTurn& turn = answer.turn;
    json::Array content;
    if (!turn.thinking.empty()) {
      content.push_back({{"type", "thinking"},
                         {"thinking", joined(turn.thinking)},
                         {"signature", kThinkingSignature}});
    }
    if (!turn.text.empty()) {
      content.push_back({{"type", "text"}, {"text", joined(turn.text)}, {"citations", nullptr}});
    }
    for (std::size_t i = 0; i < turn.calls.size(); ++i) {
      content.push_back(tool_use(answer, turn.calls[i], i, input_of(turn.calls[i])));
    }
    json::Object out = message_of(answer, turn.usage);
    out["content"] = std::move(content);
    out["stop_reason"] = stop_reason(turn);
    out["stop_details"] = stop_details(turn);
    return json::write(out);
  }

  // A code that is not one of this vendor's error types becomes a detail of the type for the
  // status.
  std::string error(const FakeError& error) const override {
    bool is_type = error.code.ends_with("_error") || error.code == "request_too_large";
    json::Object body{{"type", is_type ? error.code : type_of(error.status)},
                      {"message", error.message}};
    if (!is_type && !error.code.empty()) body["details"] = {{"error_code", error.code}};
    return json::write(json::Object{
        {"type", "error"}, {"error", std::move(body)}, {"request_id", cat("req_", error.seed)}});
  }
};

}  // namespace

std::unique_ptr<FakeFormat> make_fake_anthropic() {
  return std::make_unique<AnthropicFormat>();
}

}  // namespace errand::llm
