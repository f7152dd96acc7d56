#include "store/log_pages.hpp"

namespace errand {

void LogPages::add(const std::vector<SegmentPtr>& page) {
  is_whole_ = page.empty();
  if (is_whole_) return;
  // After a merge, the numbers of the segments have changed, or a segment reaches across the end of
  // the last page.
  const bool fits = segments_.empty() || (page.front()->n == segments_.back()->n + 1 &&
                                          page.front()->first_seq() == after() + 1);
  if (!fits) {
    segments_.clear();
    return;
  }
  segments_.insert(segments_.end(), page.begin(), page.end());
}

}  // namespace errand
