// Decodes the stream of a response.
#include <set>
#include <utility>

#include "base/text.hpp"
#include "json/write.hpp"
#include "llm/answer_tool.hpp"
#include "llm/json_stream_decoder.hpp"
#include "llm/members.hpp"
#include "llm/openai/errors.hpp"
#include "llm/openai/responses_provider.hpp"
#include "llm/provider_block.hpp"

namespace errand::llm {
namespace {

class ResponsesDecoder final : public JsonStreamDecoder {
 public:
  explicit ResponsesDecoder(BlockOrigin origin) : origin_(std::move(origin)) {}

 private:
  void take(std::string_view name, const json::Object& event, Events& out) override {
    std::string_view type = text_at(&event, "type");
    bool is_error = name == "error" || type == "error" || type.empty();
    if (is_error && !take_error(name, event, out)) return;
    take_typed(type.empty() ? name : type, event, out);
  }

  // Returns false if the event is an error, flat or nested.
  bool take_error(std::string_view name, const json::Object& event, Events& out) {
    const json::Value* nested = event.if_contains("error");
    bool is_nested = nested && !nested->is_null();
    if (!is_nested && name != "error" && text_at(&event, "type") != "error") return true;
    ErrorBody error = read_error(is_nested ? *nested : json::Value(event));
    if (error.type == "error") error.type.clear();
    fail_with(std::move(error), out);
    return false;
  }

  void take_typed(std::string_view type, const json::Object& event, Events& out) {
    if (type == "response.output_text.delta") {
      take_delta<TextDelta>(event, out);
    } else if (type == "response.reasoning_summary_text.delta" ||
               type == "response.reasoning_text.delta") {
      take_delta<ThinkingDelta>(event, out);
    } else if (type == "response.reasoning_summary_part.added") {
      if (integer_at(&event, "summary_index").value_or(0) > 0) {
        out.emplace_back(ThinkingDelta{"\n\n"});
      }
    } else if (type == "response.refusal.delta") {
      refusal_ += text_at(&event, "delta");
    } else if (type == "response.output_item.done") {
      if (const json::Object* item = object_at(&event, "item")) close_item(event, *item, out);
    } else if (type == "response.completed") {
      end(object_at(&event, "response"), "", out);
    } else if (type == "response.incomplete") {
      const json::Object* response = object_at(&event, "response");
      std::string_view reason = text_at(object_at(response, "incomplete_details"), "reason");
      end(response, reason.empty() ? "max_output_tokens" : reason, out);
    } else if (type == "response.failed") {
      const json::Object* response = object_at(&event, "response");
      const json::Object* error = object_at(response, "error");
      fail_with(error ? read_error(*error) : ErrorBody(), out);
    }
  }

  template <class Delta>
  void take_delta(const json::Object& event, Events& out) {
    std::string_view text = text_at(&event, "delta");
    if (text.empty()) return;
    streamed_.insert(key_of(event));
    out.emplace_back(Delta{std::string(text)});
  }

  // Names the output item that an event is about.
  static std::string key_of(const json::Object& event) {
    auto index = integer_at(&event, "output_index");
    return index ? cat(*index) : std::string(text_at(&event, "item_id"));
  }

  void close_item(const json::Object& event, const json::Object& item, Events& out) {
    std::string_view type = text_at(&item, "type");
    if (type == "function_call") return close_call(event, item, out);
    if (type == "message") close_message(event, item, out);
    out.emplace_back(BlockClosed{tag_block(origin_, json::write(item))});
  }

  // Servers that do not stream text send it only with the finished item.
  void close_message(const json::Object& event, const json::Object& item, Events& out) {
    bool is_streamed = streamed_.contains(key_of(event));
    bool has_refusal = !refusal_.empty();
    const json::Array* parts = array_at(&item, "content");
    if (!parts) return;
    for (const json::Value& part : *parts) {
      std::string_view text = text_at(part.if_object(), "text");
      if (!is_streamed && !text.empty()) out.emplace_back(TextDelta{std::string(text)});
      if (!has_refusal) refusal_ += text_at(part.if_object(), "refusal");
    }
  }

  void close_call(const json::Object& event, const json::Object& item, Events& out) {
    std::string_view status = text_at(&item, "status");
    if (!status.empty() && status != "completed") return;
    if (++calls_ > kAnswerCallsMax) {
      return fail(broken_stream("the model makes too many calls").failure, out);
    }
    json::Object kept = item;
    std::string id(text_at(&item, "call_id"));
    if (id.empty()) id = text_at(&item, "id");
    if (id.empty()) id = cat("call_", key_of(event));
    kept["call_id"] = id;
    out.emplace_back(BlockClosed{tag_block(origin_, json::write(kept))});
    out.emplace_back(CallClosed{.provider_id = std::move(id),
                                .name = std::string(text_at(&item, "name")),
                                .arguments = std::string(text_at(&item, "arguments"))});
  }

  // `cut_by` is empty for a complete answer.
  void end(const json::Object* response, std::string_view cut_by, Events& out) {
    const json::Object* counts = object_at(response, "usage");
    Usage usage;
    read_tokens(usage.input_tokens, counts, "input_tokens");
    read_tokens(usage.output_tokens, counts, "output_tokens");
    read_tokens(usage.cached_tokens, object_at(counts, "input_tokens_details"), "cached_tokens");
    read_tokens(usage.reasoning_tokens, object_at(counts, "output_tokens_details"),
                "reasoning_tokens");
    if (cut_by == "content_filter") {
      return fail(make_failure(error_class::kContentFilter, "the vendor filtered the answer out", 0,
                               "content_filter"),
                  out);
    }
    if (!refusal_.empty()) {
      return fail(make_failure(error_class::kRefusal, refusal_, 0, "refusal"), out);
    }
    std::string_view reason = !cut_by.empty() ? "max_tokens" : calls_ > 0 ? "tool_use" : "end_turn";
    succeed(reason, usage, out);
  }

  void fail_with(ErrorBody error, Events& out) {
    if (error.message.empty()) error.message = "the model's server reports an error";
    set_retry_after(wait_in_message(error.message));
    fail(openai_failure(error, 0), out);
  }

  const BlockOrigin origin_;
  std::set<std::string> streamed_;  // items whose text came in deltas
  std::string refusal_;
  std::size_t calls_ = 0;
};

}  // namespace

std::unique_ptr<StreamDecoder> ResponsesProvider::make_decoder(const TurnRequest& request) const {
  auto decoder = std::make_unique<ResponsesDecoder>(
      BlockOrigin{.provider = options_.origin, .model = options_.model});
  if (!request.output_schema || options_.output != OutputMechanism::answer_tool) return decoder;
  return with_answer_tool(std::move(decoder), answer_tool(request).name);
}

ApiFailure ResponsesProvider::classify(const ApiAnswer& answer) const {
  return classify_openai(answer);
}

}  // namespace errand::llm
