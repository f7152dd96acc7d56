#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include "base/assert.hpp"
#include "llm/provider.hpp"
#include "net/client/sse_reader.hpp"

namespace errand::llm {

// Counts the ends that a decoder tells, and checks that nothing follows one.
class EndCheck final {
 public:
  void take(const std::vector<TurnEvent>& events) {
    for (const TurnEvent& event : events) {
      ERRAND_ASSERT(!is_over_);
      is_over_ = std::holds_alternative<Finished>(event) || std::holds_alternative<Failed>(event);
    }
  }
  bool is_over() const { return is_over_; }

 private:
  bool is_over_ = false;
};

// Any bytes as a vendor's stream and as its error: there is exactly one end, and always a message.
inline void fuzz_provider(const Provider& provider, std::string_view bytes) {
  TurnRequest request;
  std::size_t schema_bit = bytes.empty() ? 0 : static_cast<unsigned char>(bytes.front()) & 1U;
  if (schema_bit != 0) request.output_schema = share_schema({{"type", "object"}});

  EndCheck check;
  auto decoder = provider.make_decoder(request);
  net::SseReader reader;
  if (auto events = reader.feed(bytes)) {
    for (const net::SseEvent& event : *events) check.take(decoder->feed(event.type, event.data));
  }
  check.take(decoder->finish());
  ERRAND_ASSERT(check.is_over());
  ApiFailure failure = provider.classify({.status = 400, .body = bytes});
  ERRAND_ASSERT(!failure.failure.message.empty() && !failure.failure.error_class.empty());
}

}  // namespace errand::llm
