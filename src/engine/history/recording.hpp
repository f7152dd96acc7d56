#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "base/sparse.hpp"
#include "llm/model.hpp"
#include "run/log/journal.hpp"
#include "run/log/mail.hpp"
#include "run/log/run_export.hpp"

namespace errand::engine {

// What happened to a run, taken apart into what came from outside: what the model said each time it
// was asked, the answers to calls, a cancel. Given the same again, a run shows the same events.

// What the model said to one question.
struct RecordedAttempt {
  std::vector<llm::TurnEvent> events;
  bool is_cut_off = false;  // the run itself put an end to it, so nothing follows
};

// An answer from outside, in the order in which the run took it.
struct RecordedAnswer {
  std::size_t call = 0;  // which of the run's calls, counted from 0
  ToolSite site = ToolSite::client;
  ToolAnswer answer;
  int child_turns = 0;  // of the run that the call was
};
struct RecordedCancel {
  std::size_t attempts = 0;  // so often the model had been asked
};
using RecordedNews = std::variant<RecordedAnswer, RecordedCancel>;

struct Recording {
  std::vector<JournalEntry> head;  // up to the first turn that the run asked itself
  std::vector<RecordedAttempt> attempts;
  std::vector<RecordedNews> news;
  std::vector<json::Value> events;
  Sparse<TerminalEntry> end;            // nothing if the run had not ended
  std::vector<std::string> host_tools;  // the tools that were called in the server
};

// invalid_argument: the journal cannot be read, or makes no sense.
Result<Recording> read_recording(const RunExport& run);

}  // namespace errand::engine
