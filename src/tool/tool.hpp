#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "async/task.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"
#include "json/value.hpp"
#include "run/content.hpp"
#include "run/ids.hpp"
#include "run/principal.hpp"
#include "run/tools/tool_decl.hpp"
#include "tool/secrets.hpp"

namespace errand {

class CallQuestions;

// One call of a tool. `id` is the same on every attempt, so that it can serve as idempotency key.
struct ToolCall {
  RunId run;
  ToolUseId id;
  json::Object arguments;
};

// How far a call has come.
struct ProgressReport {
  std::string message = {};
  std::optional<double> progress = {};
  std::optional<double> total = {};
};

// Takes what a call reports while it runs. Nobody waits for a report, and some may be dropped.
class ProgressSink {
 public:
  virtual ~ProgressSink() = default;
  virtual void report(ProgressReport report) = 0;
};

// Takes what the span of a call says about the peer that is called, in the names of OpenTelemetry.
// A span holds no secrets.
class SpanNotes {
 public:
  virtual ~SpanNotes() = default;
  // The last value of an attribute counts. Long ones are cut.
  virtual void note(std::string_view attribute, std::string_view value) = 0;
  virtual void note(std::string_view attribute, std::int64_t value) = 0;
};

// What the journal of a run keeps for one call, so that the call survives a restart. Only a tool
// whose annotations say `resumable` is called again, and it finds its last note here; the notes of
// other calls are dropped. A resumable tool keeps a note before an effect that must not happen
// twice.
class CallNotes {
 public:
  virtual ~CallNotes() = default;
  // The last note that the call had when it was resumed. Absent: it is not resumed, or has none.
  virtual const std::optional<json::Object>& last() const = 0;
  // Durable when it returns. Notes hold no secrets. too_large: the note has more than kNoteBytesMax
  // bytes. Any error: the note is not kept, and the effect that it announces must not begin.
  virtual Task<Result<void>> keep(json::Object note) = 0;
  // Whether a call that is being cut off is resumed later: the process stops, and neither the run
  // nor the call is given up. What the call has begun elsewhere is then left to go on.
  virtual bool goes_on_later() const = 0;
};

// Who calls a tool that is hosted in a room.
struct RoomCaller {
  std::string room;
  std::string participant_id;
  std::string name = {};          // empty: not known
  std::string role = {};          // the same
  json::Object attributes = {};   // as presence shows them
  std::string on_behalf_of = {};  // a participant's id; a claim of the caller
  json::Object context = {};      // what the caller tells of itself
};

// What a call is made with. A call that is to stop (its run was cancelled, its time is over) is
// cancelled like any task: it unwinds at its next co_await.
struct ToolContext {
  Principal who;  // for whom the call is made
  SteadyTime deadline = SteadyTime::max();
  ProgressSink* progress = nullptr;  // valid until the call returns; null: nobody listens
  // Secrets of the call's workspace. The values of those that the call has asked for are removed
  // from its outcome and progress. Valid until the call returns; null: there are none.
  CallSecrets* secrets = nullptr;
  // Valid until the call returns; null: the call is of no run, and nobody resumes it.
  CallNotes* notes = nullptr;
  // Valid until the call returns; null: the call is of no run, or of one that cannot be asked.
  CallQuestions* questions = nullptr;
  // Valid until the call returns; null: the call does not come from a room.
  const RoomCaller* caller = nullptr;
  SpanNotes* span = nullptr;  // valid until the call returns; null: the call has no span
};

// What a call gives back. A failure is data for the model, not an Error.
struct ToolOutcome {
  enum class Kind {
    ok,
    failed,  // the model may try something else
    fatal    // the run ends with it
  };
  Kind kind = Kind::ok;
  std::vector<Content> content = {};
  std::optional<json::Value> structured = {};  // as the output schema says
  int child_turns = 0;  // the tool turns of the run that the call was; they count for the caller

  bool ok() const { return kind == Kind::ok; }
};
ToolOutcome text_outcome(std::string text);
ToolOutcome failed_outcome(std::string text);
// Of a call that was cut off because it took longer than it may.
ToolOutcome overdue_outcome(milliseconds limit);
// All that an outcome says as one text.
std::string text_of(const ToolOutcome& outcome);

// A tool that this process calls. Lives on the engine's home; whoever calls it holds it.
class Tool {
 public:
  virtual ~Tool() = default;
  virtual const ToolDecl& decl() const = 0;
  // An exception that comes out is a bug of the tool; the model is told that the call failed.
  virtual Task<ToolOutcome> invoke(ToolCall call, ToolContext context) = 0;
  // True if invoke() never waits for anything and takes no time: its call needs no task of its own
  // that a deadline could cut off.
  virtual bool is_instant() const { return false; }
};
using ToolPtr = std::shared_ptr<Tool>;

}  // namespace errand
