// Decodes the stream of a chat completion.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "json/write.hpp"
#include "llm/answer_tool.hpp"
#include "llm/json_stream_decoder.hpp"
#include "llm/members.hpp"
#include "llm/openai/chat_provider.hpp"
#include "llm/openai/errors.hpp"
#include "llm/openai/think_tags.hpp"

namespace errand::llm {
namespace {

// How deeply the end of a JSON text is nested. The text may arrive in any pieces.
class Nesting final {
 public:
  void read(std::string_view text) {
    for (char c : text) read(c);
  }
  // Whether everything that was opened is closed again.
  bool is_closed() const { return has_opened_ && depth_ == 0 && !in_string_; }

 private:
  void read(char c) {
    if (std::exchange(is_escaped_, false)) return;
    if (in_string_) {
      is_escaped_ = c == '\\';
      in_string_ = c != '"';
      return;
    }
    in_string_ = c == '"';
    has_opened_ = has_opened_ || c == '{';
    if (c == '{' || c == '[') ++depth_;
    if (c == '}' || c == ']') --depth_;
  }

  std::int64_t depth_ = 0;
  bool has_opened_ = false;
  bool in_string_ = false;
  bool is_escaped_ = false;
};

// A call whose fragments are still arriving.
struct Slot {
  std::optional<std::int64_t> index;
  std::string id;
  std::string name;
  std::string arguments;
  Nesting nesting = {};    // of the arguments
  bool is_broken = false;  // the arguments were closed, but are not an object
};

// The arguments in a fragment: usually text, an object on some servers.
std::string fragment_arguments(const json::Object* function) {
  const json::Value* value = function ? function->if_contains("arguments") : nullptr;
  if (!value || value->is_null()) return {};
  return value->is_string() ? std::string(json::view(value->as_string())) : json::write(*value);
}

// Finds out which call each fragment belongs to, which servers tell in different ways.
class Slots final {
 public:
  // Returns false if the answer has too many calls.
  bool add(const json::Object& fragment) {
    const json::Object* function = object_at(&fragment, "function");
    Slot piece{.index = integer_at(&fragment, "index"),
               .id = std::string(text_at(&fragment, "id")),
               .name = std::string(text_at(function, "name")),
               .arguments = fragment_arguments(function)};
    Slot* slot = find(piece);
    (slot ? slot : &piece)->nesting.read(piece.arguments);
    if (!slot) {
      if (slots_.size() == kAnswerCallsMax) return false;
      slots_.push_back(std::move(piece));
      return true;
    }
    if (slot->id.empty()) slot->id = std::move(piece.id);
    if (slot->name.empty()) slot->name = std::move(piece.name);
    slot->arguments += piece.arguments;
    return true;
  }

  std::vector<Slot>& all() { return slots_; }

 private:
  Slot* find(const Slot& piece) {
    return piece.index ? find_by_index(piece) : find_without_index(piece);
  }

  // Some servers number every call 0: they tell calls apart by id, or send each one whole.
  Slot* find_by_index(const Slot& piece) {
    auto found = std::find_if(slots_.rbegin(), slots_.rend(),
                              [&](const Slot& slot) { return slot.index == piece.index; });
    if (found == slots_.rend()) return nullptr;
    bool is_other_id = !piece.id.empty() && !found->id.empty() && piece.id != found->id;
    bool is_named_again = piece.id.empty() && !piece.name.empty() && !found->name.empty();
    return is_other_id || (is_named_again && is_whole(*found)) ? nullptr : &*found;
  }

  // Every fragment of long arguments may come with the name, so the arguments are parsed only once,
  // when they are closed.
  static bool is_whole(Slot& slot) {
    if (slot.is_broken || !slot.nesting.is_closed()) return false;
    slot.is_broken = !parse_object(slot.arguments).has_value();
    return !slot.is_broken;
  }

  Slot* find_without_index(const Slot& piece) {
    if (!piece.id.empty()) {
      auto found = std::find_if(slots_.begin(), slots_.end(),
                                [&](const Slot& slot) { return slot.id == piece.id; });
      return found == slots_.end() ? nullptr : &*found;
    }
    bool is_new = slots_.empty() || !piece.name.empty();
    return is_new ? nullptr : &slots_.back();
  }

  std::vector<Slot> slots_;
};

class ChatDecoder final : public JsonStreamDecoder {
 private:
  void take_done(Events& out) override { end(out); }

  void end_body(Events& out) override {
    if (finish_reason_.empty()) return JsonStreamDecoder::end_body(out);
    end(out);
  }

  void take(std::string_view name, const json::Object& chunk, Events& out) override {
    const json::Value* error = chunk.if_contains("error");
    if (error && !error->is_null()) return take_error(read_error(*error), chunk, out);
    if (name == "error" || text_at(&chunk, "object") == "error") {
      return take_error(read_error(chunk), chunk, out);
    }
    take_usage(object_at(&chunk, "usage"));
    const json::Array* choices = array_at(&chunk, "choices");
    if (!choices) return;
    for (const json::Value& choice : *choices) {
      const json::Object* object = choice.if_object();
      if (object && integer_at(object, "index").value_or(0) == 0) take_choice(*object, out);
      if (is_over()) return;
    }
  }

  void take_error(ErrorBody error, const json::Object& chunk, Events& out) {
    if (error.message.empty()) error.message = text_at(&chunk, "message");
    if (error.message.empty()) error.message = "the model's server reports an error";
    set_retry_after(wait_in_message(error.message));
    fail(openai_failure(error, 0), out);
  }

  void take_usage(const json::Object* usage) {
    read_tokens(usage_.input_tokens, usage, "prompt_tokens");
    read_tokens(usage_.output_tokens, usage, "completion_tokens");
    read_tokens(usage_.cached_tokens, object_at(usage, "prompt_tokens_details"), "cached_tokens");
    read_tokens(usage_.reasoning_tokens, object_at(usage, "completion_tokens_details"),
                "reasoning_tokens");
  }

  void take_choice(const json::Object& choice, Events& out) {
    const json::Object* delta = object_at(&choice, "delta");
    if (!delta) delta = object_at(&choice, "message");
    std::string_view thought = text_at(delta, "reasoning");
    if (thought.empty()) thought = text_at(delta, "reasoning_content");
    if (!thought.empty()) out.emplace_back(ThinkingDelta{std::string(thought)});
    take_content(delta, out);
    refusal_ += text_at(delta, "refusal");
    if (const json::Array* calls = array_at(delta, "tool_calls")) {
      for (const json::Value& call : *calls) {
        if (call.is_object() && !slots_.add(call.as_object())) {
          return fail(broken_stream("the model makes too many calls").failure, out);
        }
      }
    }
    std::string_view reason = text_at(&choice, "finish_reason");
    if (!reason.empty()) finish_reason_ = reason;
  }

  void take_content(const json::Object* delta, Events& out) {
    std::string_view text = text_at(delta, "content");
    if (!text.empty()) text_.feed(text, out);
    const json::Array* parts = array_at(delta, "content");
    if (!parts) return;
    for (const json::Value& part : *parts) {
      std::string_view piece = text_at(part.if_object(), "text");
      if (!piece.empty()) text_.feed(piece, out);
    }
  }

  void end(Events& out) {
    text_.finish(out);
    if (finish_reason_ == "content_filter") {
      return fail(make_failure(error_class::kContentFilter, "the vendor filtered the answer out", 0,
                               "content_filter"),
                  out);
    }
    if (!refusal_.empty()) {
      return fail(make_failure(error_class::kRefusal, refusal_, 0, "refusal"), out);
    }
    if (finish_reason_ == "error") {
      return fail(broken_stream("the model's server reports an error").failure, out);
    }
    // Nothing tells which of the calls the output limit cut off, so none of them is made.
    bool is_cut = finish_reason_ == "length";
    if (!is_cut && !close_calls(out)) return;
    std::string_view reason = is_cut                 ? "max_tokens"
                              : slots_.all().empty() ? "end_turn"
                                                     : "tool_use";
    succeed(reason, usage_, out);
  }

  bool close_calls(Events& out) {
    auto is_nameless = [](const Slot& slot) { return slot.name.empty(); };
    if (std::any_of(slots_.all().begin(), slots_.all().end(), is_nameless)) {
      fail(broken_stream("the model calls a tool without its name").failure, out);
      return false;
    }
    for (Slot& slot : slots_.all()) {
      out.emplace_back(CallClosed{.provider_id = std::move(slot.id),
                                  .name = std::move(slot.name),
                                  .arguments = std::move(slot.arguments)});
    }
    return true;
  }

  ThinkTags text_;
  Slots slots_;
  std::string refusal_;
  std::string finish_reason_;
  Usage usage_;
};

}  // namespace

std::unique_ptr<StreamDecoder> ChatProvider::make_decoder(const TurnRequest& request) const {
  auto decoder = std::make_unique<ChatDecoder>();
  if (!request.output_schema || options_.output != OutputMechanism::answer_tool) return decoder;
  return with_answer_tool(std::move(decoder), answer_tool(request).name);
}

ApiFailure ChatProvider::classify(const ApiAnswer& answer) const {
  return classify_openai(answer);
}

}  // namespace errand::llm
