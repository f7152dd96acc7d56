#include "llm/fake/encoding.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "json/write.hpp"
#include "llm/members.hpp"

namespace errand::llm {

std::string data_frame(const json::Object& data) {
  std::string out = "data: ";
  json::write(out, data);
  out += "\n\n";
  return out;
}

std::string named_frame(const json::Object& data) {
  return cat("event: ", text_at(&data, "type"), "\n", data_frame(data));
}

FakeStream encode(PieceEncoder& encoder, const ScriptedTurn& turn) {
  FakeStream out;
  out.opening = encoder.open();
  for (const std::string& piece : turn.thinking) out.pieces.push_back(encoder.think(piece));
  for (const std::string& piece : turn.text) out.pieces.push_back(encoder.say(piece));
  for (std::size_t i = 0; i < turn.calls.size(); ++i) {
    out.pieces.push_back(encoder.call(turn.calls[i], i));
  }
  out.ending = encoder.close();
  return out;
}

std::vector<std::string_view> fragments_of(std::string_view arguments) {
  std::vector<std::string_view> out;
  std::size_t size = std::max(kFragmentBytesMin, arguments.size() / (kFragmentsMax - 1) + 1);
  while (!arguments.empty()) {
    std::string_view piece = utf8_prefix(arguments, size);
    if (piece.empty()) piece = arguments.substr(0, size);
    out.push_back(piece);
    arguments.remove_prefix(piece.size());
  }
  return out;
}

std::string joined(const std::vector<std::string>& pieces) {
  std::string out;
  for (const std::string& piece : pieces) out += piece;
  return out;
}

std::string_view reason_of(const ScriptedTurn& turn) {
  if (!turn.finish_reason.empty()) return turn.finish_reason;
  return turn.calls.empty() ? "end_turn" : "tool_use";
}

std::string translate(std::string_view word, Words words) {
  for (const auto& [from, to] : words) {
    if (from == word) return std::string(to);
  }
  return std::string(word);
}

Error missing(std::string_view field) {
  return Error(ErrorCode::invalid_argument, cat("Missing required parameter: '", field, "'."))
      .pointer(field);
}

Error wrong_type(std::string_view field, std::string_view expected) {
  return Error(ErrorCode::invalid_argument,
               cat("Invalid type for '", field, "': expected ", expected, "."))
      .pointer(field);
}

Result<std::string> read_model(const json::Object& body) {
  const json::Value* model = body.if_contains("model");
  if (!model || model->is_null()) return missing("model");
  std::string_view name = text_at(&body, "model");
  if (name.empty()) return wrong_type("model", "the name of a model");
  return std::string(name);
}

Result<const json::Array*> read_conversation(const json::Object& body, std::string_view field) {
  const json::Value* value = body.if_contains(field);
  if (!value || value->is_null()) return missing(field);
  const json::Array* items = value->if_array();
  if (!items || items->empty()) return wrong_type(field, "an array with at least one item");
  for (std::size_t i = 0; i < items->size(); ++i) {
    if (!(*items)[i].is_object()) return wrong_type(cat(field, "[", i, "]"), "an object");
  }
  return items;
}

Result<void> OpenCalls::check() const {
  if (ids_.empty()) return {};
  return Error(ErrorCode::invalid_argument,
               cat("No tool output found for function call ", *ids_.begin(), "."));
}

std::string openai_error(const FakeError& error) {
  std::string_view type = error.status >= 500 ? "server_error" : "invalid_request_error";
  std::string_view code = error.code;
  if (error.status == 401 && code.empty()) code = "invalid_api_key";
  if (error.status == 429) {
    if (code.empty()) code = "rate_limit_exceeded";
    type = code == "insufficient_quota" ? "insufficient_quota" : "requests";
  }
  json::Object body{{"message", error.message}, {"type", type}, {"param", nullptr}};
  body["code"] = code.empty() ? json::Value(nullptr) : json::Value(code);
  return json::write(json::Object{{"error", std::move(body)}});
}

}  // namespace errand::llm
