#include "llm/json_stream_decoder.hpp"

#include <string>
#include <utility>

#include "base/text.hpp"
#include "json/brief_value.hpp"
#include "llm/failure.hpp"

namespace errand::llm {

std::vector<TurnEvent> JsonStreamDecoder::feed(std::string_view name, std::string_view data) {
  Events out;
  data = trim(data);
  if (over_ || data.empty()) return out;
  bytes_ += data.size();
  if (data == "[DONE]") {
    take_done(out);
  } else if (bytes_ > kAnswerBytesMax) {
    fail(broken_stream("the model's answer is too long").failure, out);
  } else {
    take_event(name, data, out);
  }
  return out;
}

void JsonStreamDecoder::take_event(std::string_view name, std::string_view data, Events& out) {
  json::BriefValue value;
  auto event = value.parse(data, {.duplicate_keys = json::DuplicateKeys::last_wins,
                                  .values_max = json::kStrangersValuesMax});
  if (event && (*event)->is_object()) return take(name, (*event)->get_object(), out);
  std::string why = "the model's server sent invalid JSON";
  if (!event && event.error().reason() == "too_complex") {
    why = cat("the model's server sent too much at once: ", event.error().message());
  }
  fail(broken_stream(why).failure, out);
}

std::vector<TurnEvent> JsonStreamDecoder::finish() {
  Events out;
  if (!over_) end_body(out);
  return out;
}

void JsonStreamDecoder::end_body(Events& out) {
  fail(broken_stream("the stream of the model broke off").failure, out);
}

void JsonStreamDecoder::succeed(std::string_view finish_reason, const Usage& usage, Events& out) {
  over_ = true;
  out.emplace_back(Finished{.finish_reason = std::string(finish_reason), .usage = usage});
}

void JsonStreamDecoder::fail(ModelFailure failure, Events& out) {
  over_ = true;
  out.emplace_back(Failed{std::move(failure)});
}

}  // namespace errand::llm
