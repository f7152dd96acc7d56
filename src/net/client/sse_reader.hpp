#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "async/blocking_pool.hpp"
#include "async/task.hpp"
#include "base/result.hpp"

namespace errand::net {

struct SseEvent {
  std::string type = "message";
  std::string data;
  std::string id;  // the last id seen on the stream, as the standard says

  friend bool operator==(const SseEvent&, const SseEvent&) = default;
};

// Server-sent events from bytes that may be split anywhere: LF, CR, CRLF, a byte order mark,
// comments, several data lines, id and retry, as the HTML standard says. An event without its
// closing blank line is never delivered. Invalid UTF-8 becomes U+FFFD.
class SseReader final {
 public:
  static constexpr std::size_t kEventBytesMax = 16U * 1024 * 1024;

  // The events that these bytes complete. too_large: one is longer than kEventBytesMax; the rest of
  // the stream is then lost.
  Result<std::vector<SseEvent>> feed(std::string_view bytes);
  // Of an event that has begun and not ended.
  std::size_t held_bytes() const { return line_.size() + data_.size(); }

  const std::string& last_id() const { return last_id_; }
  std::optional<int> retry_millis() const { return retry_millis_; }

 private:
  void take_line(std::string_view line, std::vector<SseEvent>& out);
  void take_field(std::string_view name, std::string_view value);
  void dispatch(std::vector<SseEvent>& out);

  std::string line_;       // of an unfinished line
  bool after_cr_ = false;  // a LF right now belongs to the CR before it
  bool started_ = false;   // a byte order mark can no longer come
  std::string type_;
  std::string data_;
  bool has_data_ = false;
  std::string id_;       // counts once its event is complete
  std::string last_id_;  // of the last complete event
  std::optional<int> retry_millis_;
};

// The same on the pool once an event is long, because every byte of it is looked at and copied more
// than once; without a pool (nullptr) at once. `pool` outlives the task, and nothing else uses the
// reader meanwhile.
Task<Result<std::vector<SseEvent>>> feed_aside(std::shared_ptr<SseReader> reader, std::string bytes,
                                               BlockingPool* pool);

}  // namespace errand::net
