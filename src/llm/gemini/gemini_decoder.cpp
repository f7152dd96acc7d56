// Decodes the stream of generated content.
#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "json/write.hpp"
#include "llm/answer_tool.hpp"
#include "llm/gemini/gemini_provider.hpp"
#include "llm/gemini/wire.hpp"
#include "llm/json_stream_decoder.hpp"
#include "llm/members.hpp"
#include "llm/provider_block.hpp"

namespace errand::llm {
namespace {

constexpr std::array<std::string_view, 10> kFilterReasons = {
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "BLOCKLIST",
    "SPII",
    "IMAGE_SAFETY",
    "PROHIBITED_CONTENT",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "IMAGE_OTHER",
};

// Failures of the model or of the service around it: asking again may help.
constexpr std::array<std::string_view, 6> kMishaps = {
    "OTHER",
    "MALFORMED_FUNCTION_CALL",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "NO_IMAGE",
    "CONTINUATION",
};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

class GeminiDecoder final : public JsonStreamDecoder {
 public:
  explicit GeminiDecoder(BlockOrigin origin) : origin_(std::move(origin)) {}

 private:
  void take(std::string_view, const json::Object& chunk, Events& out) override {
    const json::Value* error = chunk.if_contains("error");
    if (error && !error->is_null()) {
      ErrorBody body = read_error(*error);
      if (body.message.empty()) body.message = "the model's server reports an error";
      set_retry_after(retry_delay(body));
      return fail(gemini_failure(body, 0), out);
    }
    take_usage(object_at(&chunk, "usageMetadata"));
    std::string_view blocked = text_at(object_at(&chunk, "promptFeedback"), "blockReason");
    if (!blocked.empty()) {
      return fail(
          make_failure(error_class::kContentFilter, "the vendor blocks the prompt", 0, blocked),
          out);
    }
    const json::Array* candidates = array_at(&chunk, "candidates");
    if (!candidates || candidates->empty()) return;
    const json::Object* candidate = (*candidates)[0].if_object();
    if (const json::Array* parts = array_at(object_at(candidate, "content"), "parts")) {
      for (const json::Value& part : *parts) {
        if (part.is_object() && !is_over()) take_part(part.as_object(), out);
      }
    }
    std::string_view reason = text_at(candidate, "finishReason");
    if (!reason.empty()) finish_reason_ = reason;
  }

  void take_usage(const json::Object* from) {
    read_tokens(prompt_, from, "promptTokenCount");
    read_tokens(tool_prompt_, from, "toolUsePromptTokenCount");
    read_tokens(cached_, from, "cachedContentTokenCount");
    read_tokens(candidates_, from, "candidatesTokenCount");
    read_tokens(thoughts_, from, "thoughtsTokenCount");
  }

  void take_part(const json::Object& part, Events& out) {
    if (const json::Object* call = object_at(&part, "functionCall")) {
      return take_call(part, *call, out);
    }
    bool is_thought = flag_at(&part, "thought");
    std::string_view text = text_at(&part, "text");
    if (!text.empty()) {
      has_content_ = has_content_ || !is_thought;
      if (is_thought) {
        out.emplace_back(ThinkingDelta{std::string(text)});
      } else {
        out.emplace_back(TextDelta{std::string(text)});
      }
    }
    // Consecutive plain texts become one part. A part with a signature, or with any other member,
    // is kept as it is and in its place.
    std::size_t plain_members =
        (part.contains("text") ? 1U : 0U) + (part.contains("thought") ? 1U : 0U);
    if (plain_members == part.size()) {
      if (pending_is_thought_ != is_thought) close_pending(out);
      pending_is_thought_ = is_thought;
      pending_ += text;
      return;
    }
    close_pending(out);
    close_part(part, out);
  }

  void take_call(const json::Object& part, const json::Object& call, Events& out) {
    if (++calls_ > kAnswerCallsMax) {
      return fail(broken_stream("the model makes too many calls").failure, out);
    }
    close_pending(out);
    close_part(part, out);
    const json::Value* arguments = call.if_contains("args");
    bool has_arguments = arguments && !arguments->is_null();
    out.emplace_back(CallClosed{.provider_id = std::string(text_at(&call, "id")),
                                .name = std::string(text_at(&call, "name")),
                                .arguments = has_arguments ? json::write(*arguments) : ""});
  }

  void close_pending(Events& out) {
    if (pending_.empty()) return;
    json::Object part{{"text", std::exchange(pending_, {})}};
    if (pending_is_thought_) part["thought"] = true;
    close_part(part, out);
  }

  void close_part(const json::Object& part, Events& out) {
    out.emplace_back(BlockClosed{tag_block(origin_, json::write(part))});
  }

  // Every piece is a whole response, and only the end of the body tells which one is the last.
  void end_body(Events& out) override {
    if (finish_reason_.empty()) return JsonStreamDecoder::end_body(out);
    close_pending(out);
    if (is_one_of(kFilterReasons, finish_reason_)) {
      return fail(make_failure(error_class::kContentFilter, "the vendor filtered the answer out", 0,
                               finish_reason_),
                  out);
    }
    if (is_one_of(kMishaps, finish_reason_)) {
      return fail(make_failure(error_class::kServer, "the model did not finish its answer", 0,
                               finish_reason_),
                  out);
    }
    bool is_cut = finish_reason_ == "MAX_TOKENS";
    if (!is_cut && !has_content_ && calls_ == 0) {
      return fail(
          make_failure(error_class::kServer, "the model's answer is empty", 0, "empty_answer"),
          out);
    }
    std::string_view reason = is_cut ? "max_tokens" : calls_ > 0 ? "tool_use" : "end_turn";
    Usage usage{.input_tokens = prompt_ + tool_prompt_,
                .cached_tokens = cached_,
                .reasoning_tokens = thoughts_,
                .output_tokens = candidates_ + thoughts_};
    succeed(reason, usage, out);
  }

  const BlockOrigin origin_;
  std::string pending_;  // consecutive texts that become one part
  bool pending_is_thought_ = false;
  std::string finish_reason_;
  std::int64_t prompt_ = 0;
  std::int64_t tool_prompt_ = 0;
  std::int64_t cached_ = 0;
  std::int64_t candidates_ = 0;
  std::int64_t thoughts_ = 0;
  std::size_t calls_ = 0;
  bool has_content_ = false;
};

}  // namespace

std::unique_ptr<StreamDecoder> GeminiProvider::make_decoder(const TurnRequest& request) const {
  auto decoder = std::make_unique<GeminiDecoder>(
      BlockOrigin{.provider = kGeminiOrigin, .model = options_.model});
  if (!request.output_schema || gemini_output(request, options_) != OutputMechanism::answer_tool) {
    return decoder;
  }
  return with_answer_tool(std::move(decoder), answer_tool(request).name);
}

ApiFailure GeminiProvider::classify(const ApiAnswer& answer) const {
  ErrorBody error = read_error_body(answer.body);
  ApiFailure out = finish_failure(gemini_failure(error, answer.status), answer);
  if (!out.retry_after) out.retry_after = retry_delay(error);
  return out;
}

}  // namespace errand::llm
