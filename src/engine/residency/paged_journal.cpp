#include "engine/residency/paged_journal.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "engine/residency/whole_log.hpp"

namespace errand::engine {
namespace {

constexpr std::size_t kJournalBytesAtOnce = 256U * 1024;

}  // namespace

PagedJournal::PagedJournal(Store& store, RunKey run, std::size_t skipped, JournalPlace from)
    : store_(store),
      run_(std::move(run)),
      wanted_(skipped),
      place_(from),
      end_(from.after),
      passed_(from.entries) {}

Task<Result<std::optional<std::string_view>>> PagedJournal::next() {
  for (;;) {
    while (!rest_.empty()) {
      const std::string_view line = take_line(rest_);
      if (passed_++ < wanted_) continue;
      ++wanted_;
      co_return std::optional(line);
    }
    ERRAND_CO_TRY(bool is_open, co_await open_segment());
    if (!is_open) co_return std::optional<std::string_view>();
  }
}

// False: there is none.
Task<Result<bool>> PagedJournal::open_segment() {
  if (next_segment_ == segments_.size()) {
    ERRAND_CO_TRY(bool is_there, co_await read_more());
    if (!is_there) co_return false;
  }
  SegmentPtr& segment = segments_[next_segment_++];
  // Segments without events lie behind the event before them: a place does not tell them apart.
  if (segment->last_seq > end_) place_ = {.entries = passed_, .after = end_};
  end_ = segment->last_seq;
  const auto count =
      static_cast<std::size_t>(std::count(segment->journal.begin(), segment->journal.end(), '\n'));
  if (passed_ + count <= wanted_) {
    passed_ += count;
    co_return true;
  }
  std::vector<SegmentPtr> one{segment};
  auto whole = co_await read_tools_back(&store_, run_, &one);
  if (!whole) co_return std::move(whole).error();
  segments_[next_segment_ - 1] = std::move(one.front());
  rest_ = segments_[next_segment_ - 1]->journal;
  co_return true;
}

// The store may have merged segments since the last ones were read. What it gives then does not
// begin where those ended, and the entry is looked for from the beginning.
Task<Result<bool>> PagedJournal::read_more() {
  segments_.clear();
  next_segment_ = 0;
  ERRAND_CO_TRY(segments_, co_await store_.read_log(run_, end_, kJournalBytesAtOnce));
  if (segments_.empty()) co_return false;
  if (end_ >= 0 && segments_.front()->first_seq() != end_ + 1) {
    place_ = {};
    end_ = place_.after;
    passed_ = place_.entries;
    ERRAND_CO_TRY(segments_, co_await store_.read_log(run_, end_, kJournalBytesAtOnce));
  }
  co_return !segments_.empty();
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
