// OpenAI's chat completions, from the vendor's side.
#include "base/text.hpp"
#include "json/write.hpp"
#include "llm/fake/encoding.hpp"
#include "llm/members.hpp"

namespace errand::llm {
namespace {

std::string chat_finish_reason(const ScriptedTurn& turn) {
  return translate(reason_of(turn), {{"end_turn", "stop"},
                                     {"stop_sequence", "stop"},
                                     {"refusal", "stop"},
                                     {"tool_use", "tool_calls"},
                                     {"max_tokens", "length"}});
}

// The field of a message that the turn's text goes to.
std::string_view text_field(const ScriptedTurn& turn) {
  return reason_of(turn) == "refusal" ? "refusal" : "content";
}

std::string call_id(const FakeAnswer& answer, std::size_t index) {
  return cat("call_", answer.seed, "_", index);
}

json::Object chat_usage(const Usage& usage) {
  return {{"prompt_tokens", usage.input_tokens},
          {"completion_tokens", usage.output_tokens},
          {"total_tokens", usage.input_tokens + usage.output_tokens},
          {"prompt_tokens_details", {{"cached_tokens", usage.cached_tokens}, {"audio_tokens", 0}}},
          {"completion_tokens_details",
           {{"reasoning_tokens", usage.reasoning_tokens},
            {"audio_tokens", 0},
            {"accepted_prediction_tokens", 0},
            {"rejected_prediction_tokens", 0}}}};
}

json::Object head_of(const FakeAnswer& answer, std::string_view object) {
  return {{"id", cat("chatcmpl-", answer.seed)}, {"object", object},
          {"created", answer.created_at},        {"model", answer.model},
          {"service_tier", "default"},           {"system_fingerprint", "fp_fake"}};
}

class ChatEncoder final : public PieceEncoder {
 public:
  explicit ChatEncoder(const FakeAnswer& answer)
      : answer_(answer),
        has_usage_(flag_at(object_at(&answer.request, "stream_options"), "include_usage")) {}

  std::string open() override {
    return chunk({{"role", "assistant"}, {"content", ""}, {"refusal", nullptr}});
  }
  // OpenAI does not show thoughts here; this is how compatible servers do it.
  std::string think(std::string_view piece) override {
    return chunk({{"reasoning_content", piece}});
  }
  std::string say(std::string_view piece) override {
    return chunk({{text_field(answer_.turn), piece}});
  }
  std::string call(const ScriptedCall& call, std::size_t index) override {
    std::string out = fragment({{"index", index},
                                {"id", call_id(answer_, index)},
                                {"type", "function"},
                                {"function", {{"name", call.name}, {"arguments", ""}}}});
    for (std::string_view piece : fragments_of(call.arguments)) {
      out += fragment({{"index", index}, {"function", {{"arguments", piece}}}});
    }
    return out;
  }
  std::string close() override {
    std::string out = chunk({}, json::Value(chat_finish_reason(answer_.turn)));
    if (has_usage_) {
      json::Object last = head_of(answer_, "chat.completion.chunk");
      last["choices"] = json::Array();
      last["usage"] = chat_usage(answer_.turn.usage);
      out += data_frame(last);
    }
    return out + "data: [DONE]\n\n";
  }

 private:
  std::string fragment(json::Object call) const {
    return chunk({{"tool_calls", json::Array{std::move(call)}}});
  }

  std::string chunk(json::Object delta, const json::Value& chat_finish_reason = nullptr) const {
    json::Object out = head_of(answer_, "chat.completion.chunk");
    out["choices"] = json::Array{{{"index", 0},
                                  {"delta", std::move(delta)},
                                  {"logprobs", nullptr},
                                  {"finish_reason", chat_finish_reason}}};
    if (has_usage_) out["usage"] = nullptr;
    return data_frame(out);
  }

  const FakeAnswer& answer_;
  const bool has_usage_;
};

json::Object message_of(const FakeAnswer& answer) {
  const ScriptedTurn& turn = answer.turn;
  json::Object message{{"role", "assistant"}, {"content", nullptr}, {"refusal", nullptr}};
  if (!turn.text.empty()) message[text_field(turn)] = joined(turn.text);
  if (!turn.thinking.empty()) message["reasoning_content"] = joined(turn.thinking);
  message["annotations"] = json::Array();
  if (turn.calls.empty()) return message;
  json::Array calls;
  for (std::size_t i = 0; i < turn.calls.size(); ++i) {
    calls.push_back(
        {{"id", call_id(answer, i)},
         {"type", "function"},
         {"function", {{"name", turn.calls[i].name}, {"arguments", turn.calls[i].arguments}}}});
  }
  message["tool_calls"] = std::move(calls);
  return message;
}

class ChatFormat final : public FakeFormat {
 public:
  Result<FakeRequest> read(const json::Object& body) const override {
    FakeRequest out;
    ERRAND_TRY(out.model, read_model(body));
    ERRAND_TRY(const json::Array* messages, read_conversation(body, "messages"));
    OpenCalls open;
    for (std::size_t i = 0; i < messages->size(); ++i) {
      const json::Object* message = (*messages)[i].if_object();
      std::string_view role = text_at(message, "role");
      bool is_known = role == "system" || role == "developer" || role == "user" ||
                      role == "assistant" || role == "tool" || role == "function";
      if (!is_known) {
        return wrong_type(cat("messages[", i, "].role"),
                          "one of 'system', 'developer', 'user', 'assistant' and 'tool'");
      }
      if (role == "assistant") ++out.turn;
      if (const json::Array* calls = array_at(message, "tool_calls")) {
        for (const json::Value& call : *calls) open.call(text_at(call.if_object(), "id"));
      }
      if (role == "tool") open.answer(text_at(message, "tool_call_id"));
    }
    ERRAND_CHECK(open.check());
    out.streams = flag_at(&body, "stream");
    return out;
  }

  FakeStream stream(const FakeAnswer& answer) const override {
    ChatEncoder encoder(answer);
    return encode(encoder, answer.turn);
  }

  std::string whole(const FakeAnswer& answer) const override {
    json::Object out = head_of(answer, "chat.completion");
    out["choices"] = json::Array{{{"index", 0},
                                  {"message", message_of(answer)},
                                  {"logprobs", nullptr},
                                  {"finish_reason", chat_finish_reason(answer.turn)}}};
    out["usage"] = chat_usage(answer.turn.usage);
    return json::write(out);
  }

  std::string error(const FakeError& error) const override { return openai_error(error); }
};

}  // namespace

std::unique_ptr<FakeFormat> make_fake_chat() {
  return std::make_unique<ChatFormat>();
}

}  // namespace errand::llm
