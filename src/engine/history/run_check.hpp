#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/fold/state.hpp"
#include "engine/history/check.hpp"
#include "engine/history/check_log.hpp"
#include "engine/history/check_sessions.hpp"
#include "json/schema_cache.hpp"
#include "run/log/event.hpp"

namespace errand::engine {

// The rules for one run: first its log, then its row, its events and its mail. Made for one call of
// findings(); the others tell what that call has read.
class RunCheck final {
 public:
  // `run` outlives this.
  explicit RunCheck(const StoredRun& run) : run_(run), row_(run.row) {}

  // One finding per rule. A rule is not judged if a rule that it builds on is broken.
  std::vector<Finding> findings();

  // The files that the log and the mail name.
  const std::vector<FilePart>& files() const { return files_; }
  // What the run has added to the history of its session.
  ToldHistory told() const;
  // Null: the log cannot be read.
  const agent::State* state() const { return entries_.empty() ? nullptr : &state_; }

 private:
  void add(BrokenRule broken);
  // False if the log cannot be read, so that nothing follows from it.
  bool check_log();
  void add_files(const std::vector<FilePart>& files);
  void check_row();
  template <class T>
  void compare(const char* rule, const char* what, const T& in_row, const T& in_log);
  void check_status();
  void compare(const char* rule, const char* what, std::string_view in_row, const char* in_log);
  // Open calls that a client has been asked for.
  std::set<std::string> offered_calls();
  void check_mail();
  // What the client was asked under this id, as the events tell it; nothing: it was not asked.
  std::optional<LocalToolCall> shown_question(std::string_view slot) const;
  // What opened the mailbox says the same as the call, or the question, that it is for.
  void check_request(const Mailbox& box);
  // Whether a call that the server makes has asked this.
  bool is_asked_by_open_call(std::string_view slot) const;
  void check_box(const Mailbox& box, const std::set<std::string>& offered);

  const StoredRun& run_;
  const RunRow& row_;
  std::vector<JournalEntry> entries_;
  std::vector<EventFacts> events_;
  agent::State state_;
  json::SchemaCache schemas_;
  std::vector<Finding> findings_;
  std::vector<FilePart> files_;
};

}  // namespace errand::engine
