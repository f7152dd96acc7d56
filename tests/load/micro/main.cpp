// What the parts of a server cost that no run shows by itself: prints one line of JSON with
// microseconds of a validation, and megabytes a second of each vendor's decoder.
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/schema.hpp"
#include "json/write.hpp"
#include "llm/fake/fake_format.hpp"
#include "net/client/sse_reader.hpp"
#include "support/vendor_providers.hpp"

namespace errand {
namespace {

constexpr std::chrono::milliseconds kAtLeast{300};
constexpr std::size_t kReadAtOnce = 16 * 1024;  // as a socket gives it
constexpr int kDeltas = 20'000;

// Seconds that one call takes, on average over as many as fit in kAtLeast.
double seconds_of(const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  work();  // what is done only once is not counted
  long count = 0;
  auto begun = Clock::now();
  while (Clock::now() - begun < kAtLeast) {
    work();
    ++count;
  }
  return std::chrono::duration<double>(Clock::now() - begun).count() / static_cast<double>(count);
}

json::Value parsed(std::string_view text) {
  return json::parse(text).value();
}

const json::CompiledSchemaPtr& schema_of_orders() {
  static const json::CompiledSchemaPtr schema = json::compile_schema(parsed(R"({
        "type": "object",
        "properties": {
          "customer": {"type": "string", "minLength": 1, "maxLength": 80},
          "priority": {"enum": ["low", "normal", "high"]},
          "lines": {"type": "array", "maxItems": 5000, "items": {
            "type": "object",
            "properties": {
              "sku": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{4}$"},
              "count": {"type": "integer", "minimum": 1, "maximum": 999},
              "note": {"type": "string"}},
            "required": ["sku", "count"],
            "additionalProperties": false}}},
        "required": ["customer", "lines"],
        "additionalProperties": false})"))
                                                    .value();
  return schema;
}

// An order of about so many bytes as JSON.
json::Value order_of(std::size_t bytes) {
  json::Array lines;
  constexpr std::size_t kLineBytes = 44;
  for (std::size_t i = 0; i * kLineBytes + 60 < bytes; ++i) {
    lines.push_back(json::Object{{"sku", "ABC-1234"}, {"count", 7}, {"note", "soon"}});
  }
  return json::Object{
      {"customer", "Ada & Sons"}, {"priority", "high"}, {"lines", std::move(lines)}};
}

double validation_micros(std::size_t bytes) {
  json::Value order = order_of(bytes);
  if (!schema_of_orders()->validate(order).empty()) std::abort();
  return seconds_of([&] { (void)schema_of_orders()->validate(order); }) * 1e6;
}

std::string stream_of(const llm::FakeFormat& format) {
  llm::ScriptedTurn turn;
  for (int i = 0; i < kDeltas; ++i) turn.text.push_back(cat("token", i % 100, " "));
  json::Object request;
  llm::FakeStream stream =
      format.stream({.turn = turn, .model = "m", .seed = "s", .request = request});
  std::string out = stream.opening;
  for (const std::string& piece : stream.pieces) out += piece;
  return out + stream.ending;
}

// Bytes as they come, through the reader of events and the decoder.
void decode(const llm::Provider& provider, std::string_view bytes) {
  auto decoder = provider.make_decoder({});
  net::SseReader reader;
  std::size_t texts = 0;
  auto take = [&](const std::vector<llm::TurnEvent>& events) {
    for (const llm::TurnEvent& event : events) {
      if (std::holds_alternative<llm::TextDelta>(event)) ++texts;
    }
  };
  for (std::size_t at = 0; at < bytes.size(); at += kReadAtOnce) {
    auto events = reader.feed(bytes.substr(at, kReadAtOnce));
    for (const net::SseEvent& event : events.value()) take(decoder->feed(event.type, event.data));
  }
  take(decoder->finish());
  if (texts != kDeltas) std::abort();
}

double megabytes_per_second(const llm::Provider& provider, const llm::FakeFormat& format) {
  std::string bytes = stream_of(format);
  double seconds = seconds_of([&] { decode(provider, bytes); });
  return static_cast<double>(bytes.size()) / 1e6 / seconds;
}

}  // namespace
}  // namespace errand

int main() {
  using namespace errand;
  json::Object out{
      {"smallValidationMicros", validation_micros(200)},
      {"largeValidationMicros", validation_micros(60'000)},
      {"chat", megabytes_per_second(llm::chat_provider(), *llm::make_fake_chat())},
      {"responses", megabytes_per_second(llm::responses_provider(), *llm::make_fake_responses())},
      {"anthropic", megabytes_per_second(llm::anthropic_provider(), *llm::make_fake_anthropic())},
      {"gemini", megabytes_per_second(llm::gemini_provider(), *llm::make_fake_gemini())}};
  std::puts(json::write(out).c_str());
}
