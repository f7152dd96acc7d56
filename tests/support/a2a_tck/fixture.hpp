#pragma once

#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "a2a/server/task_backend.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "async/wakeup.hpp"

namespace errand::a2a::tck {

// The agent that the official compatibility kit of A2A asks for: what becomes of a message follows
// from the beginning of its messageId ("tck-complete-task-..."). Messages of the kit for 0.3, whose
// ids begin otherwise, make tasks that stay open. Lives on one home.
class Fixture final : public TaskBackend {
 public:
  Fixture(Executor home, Timers& timers, const Clock& clock);

  ::errand::Task<Result<std::variant<std::string, Message>>> take(Message message) override;
  ::errand::Task<Result<void>> wait(std::string id) override;
  ::errand::Task<Result<Task>> get(std::string id) override;
  ::errand::Task<Result<std::vector<Task>>> list(std::string context_id) override;
  ::errand::Task<Result<void>> cancel(std::string id) override;
  ::errand::Task<Result<OpenTask>> open(std::string id) override;

  // The card of an agent that is reached at `url`.
  static json::Object card(std::string_view url);

  ::errand::Task<void> stop() { return tasks_.stop(CancelReason::shutdown); }

  // A task, and everything that has happened to it.
  struct Kept {
    Task task;
    Task begin;  // as it was when it came
    std::vector<StreamEvent> events = {};
    std::list<Wakeup*> readers = {};
  };

 private:
  class Reader;

  Kept* find(const std::string& id);
  Kept& begin_task(Message message);
  void act(Kept& kept, std::string_view message_id);
  void set_state(Kept& kept, TaskState state, std::string text = {});
  void add_artifact(Kept& kept, ArtifactUpdate update);
  void add_artifact(Kept& kept, Part part);
  // Completes the task once it has worked for so long.
  void work_for(Kept& kept, milliseconds work, std::string text = {});
  ::errand::Task<void> complete_later(std::string id, milliseconds work, std::string text);

  const Executor home_;
  Timers& timers_;
  const Clock& clock_;
  std::map<std::string, std::shared_ptr<Kept>> kept_;
  int last_id_ = 0;
  TaskGroup tasks_;
};

}  // namespace errand::a2a::tck
