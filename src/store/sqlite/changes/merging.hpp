#pragma once

#include <string>
#include <vector>

#include "store/sqlite/file/database.hpp"
#include "store/store.hpp"

namespace errand::sqlite {

// Merges the small segments of runs that have ended into ones of at most kSegmentBytesMax, in small
// steps inside transactions that the caller begins and ends. Runs are merged in the order in which
// they ended; the table `merging` has the progress. After every step a log is whole: readers find
// all of it, with numbers that have no gap.
class Merging final {
 public:
  explicit Merging(Database& database);

  struct Outcome {
    std::size_t cost = 0;  // in segments, or what counts as many
    bool is_all = true;    // nothing is left to merge
  };
  // Of runs that ended before this, until `cost_max` is reached. May cost more by what fits into
  // one segment.
  Result<Outcome> step(StoreTime ended_before, std::size_t cost_max);
  // A run that is removed is not merged any further.
  Result<void> forget(const RunId& run);

 private:
  // The row of the table.
  struct Progress {
    StoreTime ended_at{};
    RunKey run;
    std::int64_t merged = 0;  // segments have their final numbers up to this one
    std::int64_t next = 0;    // the number of the next one to look at; 0 if the run is done
    std::int64_t place = 0;   // of the last one before that
  };
  struct Log {
    std::int64_t segments = 0;
    std::int64_t end = 0;  // the place of the last one
  };
  // A segment, without its texts.
  struct Part {
    EventSeq last_seq = 0;
    std::int64_t n = 0;
    std::int64_t events_count = 0;
    WallTime at{};
    std::int64_t place = 0;
    std::size_t bytes = 0;  // that are kept of its texts

    std::size_t read_bytes() const;  // those of a reader, at most
  };
  using Parts = std::vector<Part>;

  Result<Progress> load();
  Result<void> save(const Progress& progress);
  // Moves `progress` to the next run that is worth it; false if there is none, or the cost of
  // looking for it is too high.
  Result<bool> move_on(Progress& progress, StoreTime ended_before, std::size_t cost_max,
                       Outcome& outcome);
  // Goes on with the run at `progress`.
  Result<void> merge(Progress& progress, std::size_t cost_max, Outcome& outcome);
  Result<Log> find_log(const RunKey& run);
  // The next segments of a log, in order; none after its end.
  Result<Parts> next_parts(const RunId& run, EventSeq after, std::int64_t n, const Log& log);
  // Makes one segment of these, with the next final number.
  Result<void> join(Progress& progress, const Parts& parts);
  Result<std::int64_t> insert_joined(const Progress& progress, const Parts& parts);

  Statement load_;
  Statement save_;
  Statement forget_;
  Statement find_ended_;
  Statement find_log_;
  Statement next_parts_;
  Statement take_out_;
  Statement insert_;
  Statement renumber_;
  Statement set_log_;
};

}  // namespace errand::sqlite
