#include "server/stream/sse_frame.hpp"

#include "base/assert.hpp"
#include "base/text.hpp"
#include "json/write.hpp"
#include "run/ids.hpp"

namespace errand::server {
namespace {

constexpr std::string_view kSeqStart = "{\"seq\":";
constexpr std::string_view kTypeStart = ",\"type\":\"";

}  // namespace

// Cuts the line apart at the places where append_event_line put it together, without parsing JSON.
SseFrame to_sse_frame(std::string_view line) {
  ERRAND_ASSERT(line.starts_with(kSeqStart));
  std::size_t seq_end = line.find(',');
  auto seq = parse_integer<EventSeq>(line.substr(kSeqStart.size(), seq_end - kSeqStart.size()));
  ERRAND_ASSERT(seq && line.substr(seq_end).starts_with(kTypeStart) && line.ends_with('}'));
  std::size_t type_start = seq_end + kTypeStart.size();
  std::size_t type_end = line.find('"', type_start);
  std::string_view type = line.substr(type_start, type_end - type_start);
  std::string_view members = line.substr(0, line.size() - 1);
  std::string_view fields = members.substr(type_end + 1);
  if (fields.starts_with(',')) fields.remove_prefix(1);
  return {.head = cat("id: ", *seq, "\nevent: ", type, "\ndata: "),
          .members = members,
          .fields = fields};
}

std::string retry_frame(std::string_view why, milliseconds pause) {
  std::string out = "event: model_retry\ndata: ";
  json::ObjectWriter writer(out);
  writer.field("type", "model_retry").field("message", why).field("pauseMs", pause.count());
  writer.end();
  return out + "\n\n";
}

}  // namespace errand::server
