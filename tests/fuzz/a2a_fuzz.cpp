// Reads anything as messages, tasks, events and cards of A2A. An event that is read is written in
// both versions and read again, and must be an event of the same kind.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "a2a/codec.hpp"
#include "json/parse.hpp"

namespace {

using namespace errand;

void check_event(const json::Value& value) {
  auto event = a2a::parse_event(value);
  if (!event) return;
  for (a2a::Version version : {a2a::Version::v03, a2a::Version::v10}) {
    auto again = a2a::parse_event(json::Value(a2a::event_json(*event, version)));
    if (!again || again->index() != event->index()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto value = json::parse(text);
  if (!value) return 0;
  check_event(*value);
  [[maybe_unused]] auto message = a2a::parse_message(*value, "");
  [[maybe_unused]] auto card = a2a::parse_card(*value, "http://127.0.0.1/card.json");
  return 0;
}
