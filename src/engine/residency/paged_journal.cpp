#include "engine/residency/paged_journal.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "engine/residency/whole_log.hpp"

namespace errand::engine {
namespace {

constexpr std::size_t kJournalBytesAtOnce = 256U * 1024;

std::size_t bytes_of_page(const std::vector<SegmentPtr>& segments) {
  std::size_t bytes = 0;
  for (const SegmentPtr& segment : segments) bytes += segment->journal.size();
  return bytes;
}

}  // namespace

PagedJournal::PagedJournal(Store& store, RunKey run, std::size_t skipped, JournalPlace from)
    : store_(store),
      run_(std::move(run)),
      wanted_(skipped),
      place_(from),
      end_(from.after),
      passed_(from.entries) {}

Task<Result<std::optional<JournalLine>>> PagedJournal::next() {
  for (;;) {
    while (!rest_.empty()) {
      const std::string_view line = take_line(rest_);
      if (passed_++ < wanted_) continue;
      ++wanted_;
      co_return std::optional(JournalLine{segments_[next_segment_ - 1], line});
    }
    ERRAND_CO_TRY(bool is_open, co_await open_segment());
    if (!is_open) co_return std::optional<JournalLine>();
  }
}

// Returns false if there is none.
Task<Result<bool>> PagedJournal::open_segment() {
  if (next_segment_ == segments_.size()) {
    ERRAND_CO_TRY(bool is_there, co_await read_more());
    if (!is_there) co_return false;
  }
  SegmentPtr& segment = segments_[next_segment_++];
  // Segments without events have the seq of the event before them, so their places cannot be told
  // apart.
  if (segment->last_seq > end_) place_ = {.entries = passed_, .after = end_};
  end_ = segment->last_seq;
  if (passed_ < wanted_) {
    const auto count = static_cast<std::size_t>(
        std::count(segment->journal.begin(), segment->journal.end(), '\n'));
    if (passed_ + count <= wanted_) {
      passed_ += count;
      co_return true;
    }
  }
  std::vector<SegmentPtr> one{segment};
  auto whole = co_await read_tools_back(&store_, run_, &one);
  if (!whole) co_return std::move(whole).error();
  segments_[next_segment_ - 1] = std::move(one.front());
  rest_ = segments_[next_segment_ - 1]->journal;
  co_return true;
}

Task<Result<bool>> PagedJournal::read_more() {
  const bool is_whole = is_last_page_;
  segments_.clear();
  next_segment_ = 0;
  if (is_whole) co_return false;
  ERRAND_CO_CHECK(co_await read_page());
  if (!continues()) {
    start_over();
    ERRAND_CO_CHECK(co_await read_page());
  }
  if (segments_.empty()) co_return false;
  page_end_n_ = segments_.back()->n;
  co_return true;
}

// A page that is not full ends where the log ends: there is no page after it to read.
Task<Result<void>> PagedJournal::read_page() {
  ERRAND_CO_TRY(segments_, co_await store_.read_journal(run_, end_, kJournalBytesAtOnce));
  is_last_page_ = bytes_of_page(segments_) < kJournalBytesAtOnce;
  co_return Result<void>();
}

// Whether the page begins where the last one ended. It does not if the store has merged segments
// meanwhile, or if the run has written a segment without events, which is in no page after its seq.
// Then the entry is searched for from the beginning of the log.
bool PagedJournal::continues() const {
  if (segments_.empty()) return true;
  const Segment& first = *segments_.front();
  if (end_ >= 0 && first.first_seq() != end_ + 1) return false;
  return !page_end_n_ || first.n == *page_end_n_ + 1;
}

void PagedJournal::start_over() {
  place_ = {};
  end_ = place_.after;
  page_end_n_.reset();
  passed_ = place_.entries;
}

JournalPlace JournalPlaces::find(const RunId& run, std::size_t skipped) const {
  auto found = places_.find({run, skipped});
  return found == places_.end() ? JournalPlace() : found->second;
}

void JournalPlaces::keep(const RunId& run, std::size_t skipped, JournalPlace place) {
  Key key{run, skipped};
  auto [kept, is_new] = places_.insert_or_assign(key, place);
  if (!is_new) return;
  oldest_.push_back(std::move(key));
  if (oldest_.size() <= kPlacesMax) return;
  places_.erase(oldest_.front());
  oldest_.pop_front();
}

}  // namespace errand::engine
