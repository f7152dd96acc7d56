#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "llm/provider.hpp"
#include "net/client/sse_reader.hpp"

namespace errand::llm {

// What a decoder says, one line for each event.
using Lines = std::vector<std::string>;

inline std::string line_of(const TurnEvent& event) {
  if (auto* by = std::get_if<AnsweredBy>(&event)) {
    return cat("answered by ", by->model.id, " ", to_string(by->output_mechanism));
  }
  if (auto* text = std::get_if<TextDelta>(&event)) return cat("text ", text->text);
  if (auto* thought = std::get_if<ThinkingDelta>(&event)) return cat("thought ", thought->text);
  if (auto* block = std::get_if<BlockClosed>(&event)) return cat("block ", block->json);
  if (auto* call = std::get_if<CallClosed>(&event)) {
    return cat("call ", call->provider_id, "|", call->name, "|", call->arguments);
  }
  if (auto* end = std::get_if<Finished>(&event)) {
    const Usage& usage = end->usage;
    return cat("finished ", end->finish_reason, " in ", usage.input_tokens, " cached ",
               usage.cached_tokens, " out ", usage.output_tokens, " reasoning ",
               usage.reasoning_tokens);
  }
  const ModelFailure& failure = std::get<Failed>(event).failure;
  return cat("failed ", failure.error_class, failure.retryable ? " retryable " : " final ",
             failure.api_status, " ", failure.api_code, ": ", failure.message);
}

inline void add_lines(Lines& out, const std::vector<TurnEvent>& events) {
  for (const TurnEvent& event : events) out.push_back(line_of(event));
}

inline Lines decode_pieces(StreamDecoder& decoder, const std::vector<std::string_view>& pieces) {
  Lines out;
  net::SseReader reader;
  for (std::string_view piece : pieces) {
    auto events = reader.feed(piece);
    if (!events) return {events.error().message()};
    for (const net::SseEvent& event : *events) add_lines(out, decoder.feed(event.type, event.data));
  }
  add_lines(out, decoder.finish());
  return out;
}

// The question that most answers in tests are to.
inline const TurnRequest& any_request() {
  static const TurnRequest request;
  return request;
}

// Decodes the bytes of an answer, and checks that it makes no difference where they are split: at
// every point of a short answer; at 64 points and byte by byte of a long one.
inline Lines decode(const Provider& provider, std::string_view bytes,
                    const TurnRequest& request = any_request()) {
  Lines whole = decode_pieces(*provider.make_decoder(request), {bytes});
  std::size_t step = bytes.size() <= 4096 ? 1 : bytes.size() / 64;
  for (std::size_t at = 1; at < bytes.size(); at += step) {
    Lines halves =
        decode_pieces(*provider.make_decoder(request), {bytes.substr(0, at), bytes.substr(at)});
    if (halves != whole) {
      ADD_FAILURE() << "split at byte " << at;
      return halves;
    }
  }
  std::vector<std::string_view> single;
  for (std::size_t i = 0; i < bytes.size(); ++i) single.push_back(bytes.substr(i, 1));
  EXPECT_EQ(decode_pieces(*provider.make_decoder(request), single), whole);
  return whole;
}

// A value, so that bodies are compared as wholes whatever their order and spaces.
inline json::Value parsed(std::string_view text) {
  auto value = json::parse(text);
  EXPECT_TRUE(value) << text;
  return value ? *value : json::Value();
}

// The assistant's message that a run keeps of an answer. Of one that breaks it keeps what closed up
// to the last call: the turn is frozen.
inline Message turn_of(const Provider& provider, std::string_view bytes) {
  Message kept{.role = Role::assistant};
  Message read{.role = Role::assistant};
  auto decoder = provider.make_decoder(any_request());
  net::SseReader reader;
  for (const net::SseEvent& event : reader.feed(bytes).value()) {
    for (TurnEvent& one : decoder->feed(event.type, event.data)) {
      if (auto* text = std::get_if<TextDelta>(&one)) read.text += text->text;
      if (auto* block = std::get_if<BlockClosed>(&one)) read.provider_blocks.push_back(block->json);
      auto* call = std::get_if<CallClosed>(&one);
      if (call) {
        auto id = ToolUseId::parse(cat("tu_", read.calls.size() + 1)).value();
        read.calls.push_back({id, call->provider_id, call->name, call->arguments});
      }
      if (call || std::holds_alternative<Finished>(one)) kept = read;
    }
  }
  for (TurnEvent& one : decoder->finish()) {
    if (auto* block = std::get_if<BlockClosed>(&one)) read.provider_blocks.push_back(block->json);
    if (std::holds_alternative<Finished>(one)) kept = read;
  }
  return kept;
}

// The messages of the body that asks again with this turn and the results "done" of its calls.
inline json::Value replayed(const Provider& provider, const Message& turn, std::string_view key) {
  std::vector<Message> messages = {{.role = Role::user, .text = "Go"}, turn, {.role = Role::user}};
  for (const ToolCallPart& call : turn.calls) {
    messages.back().results.push_back({call.id, call.provider_id, call.name, true, "done"});
  }
  ProviderRequest request = provider.build({.messages = share_messages(std::move(messages))});
  return parsed(request.body).at(key);
}

// "data: ..." frames without names.
inline std::string data_frames(const std::vector<std::string>& data) {
  std::string out;
  for (const std::string& one : data) append(out, "data: ", one, "\n\n");
  return out;
}

// Frames named by the "type" of their data.
inline std::string typed_frames(const std::vector<std::string>& data) {
  std::string out;
  for (const std::string& one : data) {
    auto value = json::parse(one).value();
    append(out, "event: ", json::view(value.as_object().at("type").as_string()), "\ndata: ", one,
           "\n\n");
  }
  return out;
}

inline SchemaPtr schema(std::string_view text) {
  return share_schema(parsed(text).as_object());
}

// "class retryable status code wait": a classifier's verdict in one line.
inline std::string verdict(const ApiFailure& failure) {
  std::string wait = failure.retry_after ? cat(failure.retry_after->count(), "ms") : "-";
  return cat(failure.failure.error_class, failure.failure.retryable ? " retryable " : " final ",
             failure.failure.api_status, " ", failure.failure.api_code, " ", wait);
}

inline ToolUseId tool_use(std::string_view text) {
  return *ToolUseId::parse(text);
}

}  // namespace errand::llm
