// Decodes the stream of a message.
#include <map>
#include <utility>

#include "base/text.hpp"
#include "json/write.hpp"
#include "llm/answer_tool.hpp"
#include "llm/anthropic/anthropic_provider.hpp"
#include "llm/anthropic/wire.hpp"
#include "llm/json_stream_decoder.hpp"
#include "llm/members.hpp"
#include "llm/provider_block.hpp"

namespace errand::llm {
namespace {

// Token counts as the vendor reports them: input does not include cached tokens.
struct Counts {
  Usage usage;
  std::int64_t cache_writes = 0;

  void read(const json::Object* from) {
    read_tokens(usage.input_tokens, from, "input_tokens");
    read_tokens(cache_writes, from, "cache_creation_input_tokens");
    read_tokens(usage.cached_tokens, from, "cache_read_input_tokens");
    read_tokens(usage.output_tokens, from, "output_tokens");
    read_tokens(usage.reasoning_tokens, object_at(from, "output_tokens_details"),
                "thinking_tokens");
  }
  Usage total() const {
    Usage out = usage;
    out.input_tokens += usage.cached_tokens + cache_writes;
    return out;
  }
};

class AnthropicDecoder final : public JsonStreamDecoder {
 public:
  explicit AnthropicDecoder(BlockOrigin origin) : origin_(std::move(origin)) {}

 private:
  void take(std::string_view name, const json::Object& event, Events& out) override {
    std::string_view type = text_at(&event, "type");
    take_typed(type.empty() ? name : type, event, out);
  }

  // A block whose parts are still arriving.
  struct OpenBlock {
    json::Object json;
    std::string input;  // the text of a call's arguments so far
  };

  void take_typed(std::string_view type, const json::Object& event, Events& out) {
    if (type == "content_block_delta") {
      take_delta(event, out);
    } else if (type == "content_block_start") {
      start_block(event, out);
    } else if (type == "content_block_stop") {
      stop_block(integer_at(&event, "index").value_or(0), out);
    } else if (type == "message_start") {
      counts_.read(object_at(object_at(&event, "message"), "usage"));
    } else if (type == "message_delta") {
      take_message_delta(event, out);
    } else if (type == "message_stop") {
      end(out);
    } else if (type == "error") {
      const json::Value* error = event.if_contains("error");
      ErrorBody body = error ? read_error(*error) : ErrorBody();
      if (body.message.empty()) body.message = "the model's server reports an error";
      fail(anthropic_failure(body, 0), out);
    }
  }

  void start_block(const json::Object& event, Events& out) {
    // The model has gone on to another block, so the call before it is complete.
    release_held_call(out);
    const json::Object* block = object_at(&event, "content_block");
    if (!block) return;
    if (++blocks_ > kAnswerCallsMax) {
      return fail(broken_stream("the model's answer has too many blocks").failure, out);
    }
    open_[integer_at(&event, "index").value_or(0)] = {.json = *block, .input = {}};
    std::string_view text = text_at(block, "text");
    if (text_at(block, "type") == "text" && !text.empty()) {
      out.emplace_back(TextDelta{std::string(text)});
    }
  }

  void take_delta(const json::Object& event, Events& out) {
    auto found = open_.find(integer_at(&event, "index").value_or(0));
    const json::Object* delta = object_at(&event, "delta");
    if (found == open_.end() || !delta) return;
    OpenBlock& block = found->second;
    std::string_view type = text_at(delta, "type");
    if (type == "text_delta") {
      std::string_view text = text_at(delta, "text");
      append_to(block, "text", text);
      if (!text.empty()) out.emplace_back(TextDelta{std::string(text)});
    } else if (type == "thinking_delta") {
      std::string_view text = text_at(delta, "thinking");
      append_to(block, "thinking", text);
      if (!text.empty()) out.emplace_back(ThinkingDelta{std::string(text)});
    } else if (type == "signature_delta") {
      block.json["signature"] = text_at(delta, "signature");
    } else if (type == "input_json_delta") {
      block.input += text_at(delta, "partial_json");
    } else if (type == "citations_delta") {
      json::Value& citations = block.json["citations"];
      if (!citations.is_array()) citations = json::Array();
      if (const json::Value* one = delta->if_contains("citation")) {
        citations.as_array().push_back(*one);
      }
    }
  }

  static void append_to(OpenBlock& block, std::string_view key, std::string_view text) {
    json::Value& value = block.json[key];
    if (!value.is_string()) value = "";
    value.as_string().append(text);
  }

  void stop_block(std::int64_t index, Events& out) {
    auto found = open_.find(index);
    if (found == open_.end()) return;
    OpenBlock block = std::move(found->second);
    open_.erase(found);
    bool is_call = text_at(&block.json, "type") == "tool_use";
    bool is_text = text_at(&block.json, "type") == "text";
    auto input = parse_object(block.input);
    if (input) block.json["input"] = *input;
    if (is_call) {
      // A block that the output limit cut off is closed like any other. Arguments that are a
      // complete object cannot have been cut off; any others are held until it is known why the
      // model stopped.
      release_held_call(out);
      held_call_ = std::move(block);
      if (input) release_held_call(out);
      return;
    }
    bool is_empty_text = is_text && trim_all(text_at(&block.json, "text")).empty();
    if (!is_empty_text) close_block(block.json, out);
  }

  static std::string_view trim_all(std::string_view text) {
    auto first = text.find_first_not_of(" \t\r\n");
    return first == std::string_view::npos ? std::string_view() : text.substr(first);
  }

  void close_block(const json::Object& block, Events& out) {
    out.emplace_back(BlockClosed{tag_block(origin_, json::write(block))});
  }

  void release_held_call(Events& out) {
    if (!held_call_) return;
    OpenBlock call = std::move(*std::exchange(held_call_, {}));
    // Servers that do not stream arguments send them with the start of the block.
    const json::Object* input = object_at(&call.json, "input");
    if (call.input.empty() && input && !input->empty()) json::write(call.input, *input);
    if (!input) call.json["input"] = json::Object();
    has_calls_ = true;
    close_block(call.json, out);
    out.emplace_back(CallClosed{.provider_id = std::string(text_at(&call.json, "id")),
                                .name = std::string(text_at(&call.json, "name")),
                                .arguments = std::move(call.input)});
  }

  void take_message_delta(const json::Object& event, Events& out) {
    counts_.read(object_at(&event, "usage"));
    const json::Object* delta = object_at(&event, "delta");
    std::string_view reason = text_at(delta, "stop_reason");
    if (reason.empty()) return;
    stop_reason_ = reason;
    refusal_ = text_at(object_at(delta, "stop_details"), "explanation");
    if (is_whole()) release_held_call(out);
  }

  // Whether the model stopped because it had nothing more to say.
  bool is_whole() const {
    return stop_reason_ != "max_tokens" && stop_reason_ != "model_context_window_exceeded" &&
           stop_reason_ != "refusal" && stop_reason_ != "pause_turn";
  }

  void end(Events& out) {
    if (stop_reason_ == "refusal") {
      if (refusal_.empty()) refusal_ = "the model refuses to answer";
      return fail(make_failure(error_class::kRefusal, refusal_, 0, "refusal"), out);
    }
    if (stop_reason_ == "pause_turn") {
      return fail(make_failure(error_class::kServer, "the model paused its turn", 0, "pause_turn"),
                  out);
    }
    if (is_whole()) release_held_call(out);
    std::string_view reason = !is_whole() ? "max_tokens" : has_calls_ ? "tool_use" : "end_turn";
    succeed(reason, counts_.total(), out);
  }

  const BlockOrigin origin_;
  std::map<std::int64_t, OpenBlock> open_;
  std::optional<OpenBlock> held_call_;
  std::string stop_reason_;
  std::string refusal_;
  Counts counts_;
  std::size_t blocks_ = 0;
  bool has_calls_ = false;
};

}  // namespace

std::unique_ptr<StreamDecoder> AnthropicProvider::make_decoder(const TurnRequest& request) const {
  auto decoder = std::make_unique<AnthropicDecoder>(
      BlockOrigin{.provider = kAnthropicOrigin, .model = options_.model});
  if (!request.output_schema ||
      anthropic_output(request, options_) != OutputMechanism::answer_tool) {
    return decoder;
  }
  return with_answer_tool(std::move(decoder), answer_tool(request).name);
}

ApiFailure AnthropicProvider::classify(const ApiAnswer& answer) const {
  return finish_failure(anthropic_failure(read_error_body(answer.body), answer.status), answer);
}

}  // namespace errand::llm
