#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "async/task.hpp"
#include "base/result.hpp"
#include "run/ids.hpp"
#include "store/store.hpp"

namespace errand::engine {

// A place in a journal between two segments: the number of entries before it, and the seq of the
// last segment before it.
struct JournalPlace {
  std::size_t entries = 0;
  EventSeq after = -1;

  friend bool operator==(const JournalPlace&, const JournalPlace&) = default;
};

// An entry as its journal has it.
struct JournalLine {
  SegmentPtr segment;  // keeps the text
  std::string_view text;
};

// The entries of a journal from one on, read a part at a time, so that of a long journal only
// a part is in memory. Tools that are kept beside the journal are put back into it. Of a journal
// that grows meanwhile, as much is read as there was with its last page. The store outlives the
// reader.
class PagedJournal final {
 public:
  // The entry behind the first `skipped` ones comes next. They are looked for from `from` on.
  PagedJournal(Store& store, RunKey run, std::size_t skipped, JournalPlace from);

  // The next entry; none behind the last.
  // internal: tools are lost or damaged; errand check-data tells more.
  Task<Result<std::optional<JournalLine>>> next();

  // A place from which the entry that was given last is found soon.
  JournalPlace place() const { return place_; }

 private:
  Task<Result<bool>> open_segment();
  Task<Result<bool>> read_more();
  Task<Result<void>> read_page();
  bool continues() const;
  void start_over();

  Store& store_;
  const RunKey run_;
  std::size_t wanted_;  // the number of the entry that comes next
  JournalPlace place_;
  std::vector<SegmentPtr> segments_;
  std::size_t next_segment_ = 0;                 // in segments_
  EventSeq end_;                                 // of the segment before that
  std::optional<std::int32_t> page_end_n_ = {};  // the last number of the last page
  bool is_last_page_ = false;                    // segments_ reach to where the log ended
  std::size_t passed_;                           // entries before rest_
  std::string_view rest_;                        // of a segment's journal
};

// Where the pages that were read last have ended, so that a client that reads one page after the
// other reads every part of the journal once. The oldest are forgotten first; a page whose place is
// not known is looked for from the beginning. Lives on one home.
class JournalPlaces final {
 public:
  static constexpr std::size_t kPlacesMax = 256;

  // Where to look for the entry behind the first `skipped` ones.
  JournalPlace find(const RunId& run, std::size_t skipped) const;
  void keep(const RunId& run, std::size_t skipped, JournalPlace place);

 private:
  using Key = std::pair<RunId, std::size_t>;

  std::map<Key, JournalPlace> places_;
  std::deque<Key> oldest_;
};

}  // namespace errand::engine
