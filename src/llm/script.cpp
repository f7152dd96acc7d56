#include "llm/script.hpp"

#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "llm/failure.hpp"

namespace errand::llm {
namespace {

constexpr std::int64_t kDelayMillisMax = 3'600'000;

std::vector<std::string> parse_texts(json::Fields& in, std::string_view key) {
  std::vector<std::string> out;
  const json::Array* items = in.optional_array(key);
  if (!items) return out;
  for (const json::Value& item : *items) {
    if (!item.is_string()) {
      in.fail(key, "expected an array of strings");
      return out;
    }
    out.emplace_back(json::view(item.get_string()));
  }
  return out;
}

std::vector<ScriptedCall> parse_calls(json::Fields& in) {
  std::vector<ScriptedCall> out;
  const json::Array* calls = in.optional_array("toolCalls");
  if (!calls) return out;
  for (std::size_t i = 0; i < calls->size(); ++i) {
    json::Fields call((*calls)[i], json::child_pointer(in.pointer_to("toolCalls"), i));
    ScriptedCall parsed{.name = call.text("name"), .arguments = "{}"};
    if (const json::Value* args = call.optional_any("args")) parsed.arguments = json::write(*args);
    // Text that need not be JSON, so that tests can send wrong arguments.
    if (auto raw = call.optional_text("rawArgs")) parsed.arguments = std::move(*raw);
    if (auto done = call.finish(); !done) in.fail(std::move(done).error());
    out.push_back(std::move(parsed));
  }
  return out;
}

// The class that a vendor's answer of this kind would get.
std::string_view error_class_of(int status, std::string_view code, std::string_view message) {
  bool is_too_long = code == "context_length_exceeded" || tells_of_context_window(message);
  return status < 500 && is_too_long ? error_class::kContextWindow : class_of_status(status);
}

std::optional<ModelFailure> parse_failure(json::Fields& in) {
  const json::Value* value = in.optional_any("error");
  if (!value) return {};
  json::Fields error(*value, in.pointer_to("error"));
  int status = static_cast<int>(error.integer("status", 400, 599));
  std::string code = error.optional_text("code").value_or("");
  std::string message = error.optional_text("message").value_or(cat("the model answered ", status));
  if (auto done = error.finish(); !done) in.fail(std::move(done).error());
  return make_failure(error_class_of(status, code, message), message, status, code);
}

Result<ScriptedTurn> parse_turn(const json::Value& value, std::string_view pointer) {
  json::Fields in(value, pointer);
  ScriptedTurn turn;
  turn.delay = milliseconds(in.optional_integer("delayMs", 0, kDelayMillisMax).value_or(0));
  turn.delta_delay =
      milliseconds(in.optional_integer("deltaDelayMs", 0, kDelayMillisMax).value_or(0));
  turn.thinking = parse_texts(in, "thinking");
  turn.text = parse_texts(in, "text");
  turn.calls = parse_calls(in);
  turn.finish_reason = in.optional_text("finishReason").value_or("");
  if (const json::Value* usage = in.optional_any("usage")) turn.usage = parse_usage(*usage);
  turn.failure = parse_failure(in);
  if (auto cut = in.optional_integer("cutAfter", 0, INT32_MAX)) {
    turn.cut_after = static_cast<std::size_t>(*cut);
  }
  return in.finish(std::move(turn));
}

}  // namespace

Result<Script> parse_script(std::string_view json_text) {
  ERRAND_TRY(auto value, json::parse(json_text, {.comments = json::Comments::allow}));
  json::Fields in(value, "");
  const json::Array* turns = in.optional_array("turns");
  if (!turns || turns->empty()) in.fail("turns", "expected an array with at least one turn");
  ERRAND_CHECK(in.finish());
  Script script;
  for (std::size_t i = 0; i < turns->size(); ++i) {
    ERRAND_TRY(auto turn, parse_turn((*turns)[i], json::child_pointer("/turns", i)));
    script.push_back(std::move(turn));
  }
  return script;
}

}  // namespace errand::llm
