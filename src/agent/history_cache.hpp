#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>

#include "agent/fold/past.hpp"
#include "store/sessions.hpp"

namespace errand::agent {

// Histories of sessions in the form that models get, so that a message to a long session does not
// read all of it again. The entries of a history never change, and it only grows: the known part is
// always its beginning. The least recently used history is forgotten first. Lives on one home.
class HistoryCache final {
 public:
  // The bound for all histories together, in bytes. A longer history is not kept.
  static constexpr std::size_t kBytesMax = 32U * 1024 * 1024;
  // What a message takes besides its text.
  static constexpr std::size_t kMessageBytes = 256;

  explicit HistoryCache(std::size_t bytes_max = kBytesMax) : bytes_max_(bytes_max) {}

  // The beginning of a history: a number of entries, each of which is one message or several.
  struct Beginning {
    std::int64_t entries = 0;
    Past past = {};
  };
  // The known part of the first `until` entries; empty if none is known, or if more than these are.
  Beginning find(const SessionKey& session, std::int64_t until);
  // The known messages of a history with the entries behind the first `after`, and how many entries
  // these are, with the bytes that the store has of them. It is dropped unless just the entries
  // before them are known: another run has added them, or they would leave a gap.
  void extend(const SessionKey& session, std::int64_t after, HistorySize added, Past past);
  // The length of the known part of a history; the history itself may be longer.
  HistorySize size_of(const SessionKey& session) const;

  std::size_t bytes() const { return bytes_; }

 private:
  struct Kept {
    SessionKey session;
    Beginning beginning = {};
    std::int64_t stored_bytes = 0;
    std::size_t bytes = 0;
  };
  using List = std::list<Kept>;

  void drop(List::iterator kept);

  const std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  List kept_;  // the one used last is first
  std::map<SessionKey, List::iterator> places_;
};

}  // namespace errand::agent
