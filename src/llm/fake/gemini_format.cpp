// Google's Gemini API, from the vendor's side.
#include <algorithm>

#include "base/text.hpp"
#include "json/write.hpp"
#include "llm/fake/encoding.hpp"
#include "llm/members.hpp"

namespace errand::llm {
namespace {

constexpr std::string_view kThoughtSignature = "c2lnbmVkIGJ5IGEgZmFrZQ==";  // "signed by a fake"
constexpr std::string_view kMalformed = "MALFORMED_FUNCTION_CALL";

// Arguments have to be an object here; empty if the script's arguments are not one.
std::optional<json::Object> arguments_of(const ScriptedCall& call) {
  return call.arguments.empty() ? json::Object() : parse_object(call.arguments);
}

bool is_malformed(const ScriptedTurn& turn) {
  return std::any_of(turn.calls.begin(), turn.calls.end(),
                     [](const ScriptedCall& call) { return !arguments_of(call); });
}

std::string gemini_finish_reason(const ScriptedTurn& turn) {
  if (turn.finish_reason.empty() && is_malformed(turn)) return std::string(kMalformed);
  return translate(reason_of(turn), {{"end_turn", "STOP"},
                                     {"tool_use", "STOP"},
                                     {"stop_sequence", "STOP"},
                                     {"max_tokens", "MAX_TOKENS"},
                                     {"refusal", "SAFETY"},
                                     {"content_filter", "SAFETY"}});
}

// The vendor counts thoughts apart from the rest of the output.
json::Object gemini_usage(const Usage& usage) {
  std::int64_t said = std::max<std::int64_t>(0, usage.output_tokens - usage.reasoning_tokens);
  json::Object out{{"promptTokenCount", usage.input_tokens},
                   {"candidatesTokenCount", said},
                   {"totalTokenCount", usage.input_tokens + usage.output_tokens}};
  if (usage.cached_tokens > 0) out["cachedContentTokenCount"] = usage.cached_tokens;
  if (usage.reasoning_tokens > 0) out["thoughtsTokenCount"] = usage.reasoning_tokens;
  out["promptTokensDetails"] =
      json::Array{{{"modality", "TEXT"}, {"tokenCount", usage.input_tokens}}};
  return out;
}

json::Object text_part(std::string_view text) {
  return {{"text", text}};
}

json::Object thought_part(std::string_view text) {
  return {{"text", text}, {"thought", true}};
}

// Only the first of parallel calls has a signature.
json::Object call_part(const FakeAnswer& answer, const ScriptedCall& call, json::Object arguments,
                       std::size_t index) {
  json::Object part{{"functionCall",
                     {{"id", cat("call_", answer.seed, "_", index)},
                      {"name", call.name},
                      {"args", std::move(arguments)}}}};
  if (index == 0) part["thoughtSignature"] = kThoughtSignature;
  return part;
}

json::Object answer_of(const FakeAnswer& answer, json::Array parts) {
  json::Object candidate{{"content", {{"parts", std::move(parts)}, {"role", "model"}}},
                         {"index", 0}};
  return {{"candidates", json::Array{std::move(candidate)}},
          {"usageMetadata", gemini_usage(answer.turn.usage)},
          {"modelVersion", answer.model},
          {"responseId", answer.seed}};
}

void finish(const ScriptedTurn& turn, json::Object& answer) {
  json::Object& candidate = answer["candidates"].as_array()[0].as_object();
  std::string reason = gemini_finish_reason(turn);
  candidate["finishReason"] = reason;
  if (reason == kMalformed) candidate["finishMessage"] = "Malformed function call";
}

class GeminiEncoder final : public PieceEncoder {
 public:
  explicit GeminiEncoder(const FakeAnswer& answer) : answer_(answer) {}

  std::string open() override { return {}; }
  std::string think(std::string_view piece) override { return chunk(thought_part(piece)); }
  std::string say(std::string_view piece) override { return chunk(text_part(piece)); }
  std::string call(const ScriptedCall& call, std::size_t index) override {
    auto arguments = arguments_of(call);
    if (!arguments) return {};
    return chunk(call_part(answer_, call, std::move(*arguments), index));
  }
  std::string close() override {
    json::Object last = answer_of(answer_, json::Array{text_part("")});
    finish(answer_.turn, last);
    return data_frame(last);
  }

 private:
  std::string chunk(json::Object part) const {
    return data_frame(answer_of(answer_, json::Array{std::move(part)}));
  }

  const FakeAnswer& answer_;
};

struct StatusWord {
  int status;
  std::string_view word;
};
constexpr StatusWord kStatusWords[] = {
    {401, "UNAUTHENTICATED"},   {403, "PERMISSION_DENIED"},  {404, "NOT_FOUND"},
    {409, "ABORTED"},           {429, "RESOURCE_EXHAUSTED"}, {499, "CANCELLED"},
    {501, "UNIMPLEMENTED"},     {503, "UNAVAILABLE"},        {529, "UNAVAILABLE"},
    {504, "DEADLINE_EXCEEDED"},
};

std::string_view word_of(int status) {
  for (const StatusWord& one : kStatusWords) {
    if (one.status == status) return one.word;
  }
  return status >= 500 ? "INTERNAL" : "INVALID_ARGUMENT";
}

// Whether a code in the script is one of the vendor's status words, such as RESOURCE_EXHAUSTED.
bool is_status_word(std::string_view code) {
  return !code.empty() && std::all_of(code.begin(), code.end(),
                                      [](char c) { return c == '_' || (c >= 'A' && c <= 'Z'); });
}

// The number of parts of a content that have this member.
std::ptrdiff_t count_parts(const json::Array& parts, std::string_view member) {
  return std::count_if(parts.begin(), parts.end(), [&](const json::Value& part) {
    return object_at(part.if_object(), member) != nullptr;
  });
}

class GeminiFormat final : public FakeFormat {
 public:
  Result<FakeRequest> read(const json::Object& body) const override {
    FakeRequest out;
    ERRAND_TRY(const json::Array* contents, read_conversation(body, "contents"));
    bool was_model = false;
    std::ptrdiff_t open_calls = 0;
    for (std::size_t i = 0; i < contents->size(); ++i) {
      const json::Object* content = (*contents)[i].if_object();
      std::string_view role = text_at(content, "role");
      if (!role.empty() && role != "user" && role != "model" && role != "function") {
        return wrong_type(cat("contents[", i, "].role"), "user or model");
      }
      const json::Array* parts = array_at(content, "parts");
      if (!parts) return wrong_type(cat("contents[", i, "].parts"), "an array");
      open_calls += count_parts(*parts, "functionCall") - count_parts(*parts, "functionResponse");
      // A streamed turn comes back as one content for each of its pieces, so these are counted as
      // one turn.
      bool is_model = role == "model";
      if (is_model && !was_model) ++out.turn;
      was_model = is_model;
    }
    if (open_calls != 0) {
      return Error(ErrorCode::invalid_argument,
                   "Please ensure that the number of function response parts is equal to the "
                   "number of function call parts of the function call turn.");
    }
    return out;
  }

  FakeStream stream(const FakeAnswer& answer) const override {
    GeminiEncoder encoder(answer);
    return encode(encoder, answer.turn);
  }

  std::string whole(const FakeAnswer& answer) const override {
    const ScriptedTurn& turn = answer.turn;
    json::Array parts;
    if (!turn.thinking.empty()) parts.push_back(thought_part(joined(turn.thinking)));
    if (!turn.text.empty()) parts.push_back(text_part(joined(turn.text)));
    for (std::size_t i = 0; i < turn.calls.size(); ++i) {
      auto arguments = arguments_of(turn.calls[i]);
      if (arguments) parts.push_back(call_part(answer, turn.calls[i], std::move(*arguments), i));
    }
    if (parts.empty()) parts.push_back(text_part(""));
    json::Object out = answer_of(answer, std::move(parts));
    finish(turn, out);
    return json::write(out);
  }

  std::string error(const FakeError& error) const override {
    std::string_view word = is_status_word(error.code) ? error.code : word_of(error.status);
    return json::write(json::Object{
        {"error", {{"code", error.status}, {"message", error.message}, {"status", word}}}});
  }
};

}  // namespace

std::unique_ptr<FakeFormat> make_fake_gemini() {
  return std::make_unique<GeminiFormat>();
}

}  // namespace errand::llm
