#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "a2a/types.hpp"
#include "async/task.hpp"
#include "base/result.hpp"
#include "net/event_feed.hpp"

namespace errand::a2a {

// The events of one task, in order. Outlives the request that opened it; owned by its stream.
class TaskSource {
 public:
  struct Batch {
    net::EventFeed::State state = net::EventFeed::State::more;
    std::vector<StreamEvent> events = {};
  };

  virtual ~TaskSource() = default;
  // Waits until something has happened to the task. Ends with the task.
  virtual ::errand::Task<Batch> read(SteadyTime deadline) = 0;
  // Makes a pending read return `broken`.
  virtual void interrupt() = 0;
};

// A task, and what happens to it from then on. The source may repeat what the task shows.
struct OpenTask {
  Task task;
  std::unique_ptr<TaskSource> source;
};

// What an agent does with the requests of one caller. An AgentEndpoint speaks for it. Errors:
// not_found (no such task), invalid_argument, conflict (the task does not allow this now; with the
// reason kNotCancelable: it is over) and unsupported with the reason kMediaType.
class TaskBackend {
 public:
  static constexpr std::string_view kNotCancelable = "not_cancelable";
  static constexpr std::string_view kMediaType = "media_type";

  virtual ~TaskBackend() = default;

  // Takes a message. Gives the id of its task, which is new unless the message names one or was
  // taken before; or the agent's answer, if there is no task.
  virtual ::errand::Task<Result<std::variant<std::string, Message>>> take(Message message) = 0;
  // Returns once the task is over, or waits for its client.
  virtual ::errand::Task<Result<void>> wait(std::string id) = 0;
  // The whole task.
  virtual ::errand::Task<Result<Task>> get(std::string id) = 0;
  // The tasks of a context (empty: of all), with their ids, contexts, states and timestamps, in any
  // order. None for a context that is not known.
  virtual ::errand::Task<Result<std::vector<Task>>> list(std::string context_id) = 0;
  // Returns once the task is over.
  virtual ::errand::Task<Result<void>> cancel(std::string id) = 0;
  virtual ::errand::Task<Result<OpenTask>> open(std::string id) = 0;
};

}  // namespace errand::a2a
