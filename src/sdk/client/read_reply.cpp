#include "sdk/client/read_reply.hpp"

#include <optional>

namespace errand::sdk {

v1::Result<v1::Reply> read_reply(EventQueue& events) {
  for (;;) {
    v1::Result<std::optional<v1::Event>> event = events.next();
    if (!event) return event.error();
    if (!*event) return v1::Error(v1::ErrorCode::conflict, "the stream has been read to its end");
    if (const auto* end = (*event)->as<v1::RunEnded>()) {
      if (end->reply.ok()) return end->reply;
      return v1::detail::run_error(end->reply);
    }
  }
}

}  // namespace errand::sdk
