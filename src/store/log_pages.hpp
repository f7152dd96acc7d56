#pragma once

#include <utility>
#include <vector>

#include "store/records.hpp"

namespace errand {

// A whole log, put together from the pages of Store::read_log. If the store merges segments between
// two pages, the pages do not fit together, and reading starts over. A log is merged once and in a
// few steps, so that reading comes to an end.
class LogPages final {
 public:
  // Where the next page begins: the `after` of read_log.
  EventSeq after() const { return segments_.empty() ? -1 : segments_.back()->last_seq; }
  // The next page; an empty one completes the log.
  void add(const std::vector<SegmentPtr>& page);

  bool is_whole() const { return is_whole_; }
  std::vector<SegmentPtr> take() { return std::move(segments_); }

 private:
  std::vector<SegmentPtr> segments_;
  bool is_whole_ = false;
};

}  // namespace errand
