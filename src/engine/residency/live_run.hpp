#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "agent/agent_run.hpp"
#include "base/sparse.hpp"
#include "run/ids.hpp"
#include "store/store.hpp"

namespace errand::engine {

class Subscription;

bool has_cancel(std::span<const Mailbox> mail);

// A run in memory: its agent, if this process drives the run, and its readers. Shared by the engine
// and by subscriptions; lives on the engine's home.
class LiveRun final : public agent::RunObserver {
 public:
  // Learns what happens to a run. Outlives the run.
  class Keeper {
   public:
    virtual ~Keeper() = default;
    virtual void on_end(LiveRun& run) = 0;
    virtual void on_waiting(LiveRun& run) = 0;
    // The run waits for a run that it has called, or does not any more.
    virtual void on_waiting_for_child(LiveRun& run) = 0;
    virtual void on_going_on(LiveRun& run) = 0;
    // Clients that look for work can see these calls of the run.
    virtual void on_calls_offered(LiveRun& run, std::span<const Mailbox> calls) = 0;
    virtual void on_calls_closed(LiveRun& run, std::span<const std::string> slots) = 0;
    virtual void on_broken(LiveRun& run, const Error& error) = 0;
    // The run has ended and gave its session's turn to another; absent: the store has not told to
    // which run, if to any.
    virtual void on_turn_given(LiveRun& run, std::optional<RunId> to) = 0;
    // The run has ended, and it has a reader, or no reader any more.
    virtual void on_read_after_end(LiveRun& run, bool is_read) = 0;
    // Neither an agent nor a reader is left.
    virtual void on_unused(LiveRun& run) = 0;
  };

  LiveRun(const RunRow& row, Keeper& keeper);

  const RunId& id() const { return id_; }
  const WorkspaceSlug& workspace() const { return workspace_; }
  RunKey key() const { return {.workspace = workspace_, .run = id_}; }
  EventSeq committed_seq() const { return committed_seq_; }
  bool is_terminal() const { return errand::is_terminal(status_); }

  // Takes the agent and gives it the mail that came while there was none.
  void attach(std::unique_ptr<agent::AgentRun> agent);
  agent::AgentRun* agent() { return agent_.get(); }
  std::unique_ptr<agent::AgentRun> detach();
  void deliver(Mailbox mail);
  bool has_early_mail() const { return !early_mail_.empty(); }
  bool has_early_cancel() const;

  // The newest committed segments, without a gap, up to the log's end; for readers that come a
  // little late. May be empty.
  static constexpr std::size_t kRecentBytesMax = 32 * 1024;
  const std::vector<SegmentPtr>& recent() const { return recent_; }

  // Long segments that readers have read from the store are shared by all who read them meanwhile.
  static constexpr std::size_t kLentBytesMin = 64 * 1024;
  // The segment that begins right after this event, or contains it; null if no reader holds it now.
  SegmentPtr lent_after(EventSeq after) const;
  // The same segments, each as others have it if they do.
  void share(std::vector<SegmentPtr>& read);

  // The latest pause of the model, which may be over.
  const Sparse<ModelRetry>& retry() const { return retry_; }

  // The log is longer than this process has seen: after an append whose outcome was unknown.
  void catch_up(const RunRow& row);

  bool has_readers() const { return !readers_.empty(); }
  void add_reader(Subscription* reader);
  void remove_reader(Subscription* reader);

  void on_commit(const agent::Committed& commit) override;
  void on_retry(const ModelRetry& retry) override;
  void on_end() override { keeper_.on_end(*this); }
  void on_waiting() override { keeper_.on_waiting(*this); }
  void on_waiting_for_child() override { keeper_.on_waiting_for_child(*this); }
  void on_going_on() override { keeper_.on_going_on(*this); }
  void on_broken(const Error& error) override { keeper_.on_broken(*this, error); }

 private:
  void tell_read_after_end();
  void keep(const SegmentPtr& segment);
  void forget_recent();

  const RunId id_;
  const WorkspaceSlug workspace_;
  EventSeq committed_seq_;
  RunStatus status_;
  Keeper& keeper_;
  std::vector<Subscription*> readers_;
  bool is_read_after_end_ = false;  // as the keeper knows it
  std::vector<SegmentPtr> recent_;
  std::size_t recent_bytes_ = 0;
  std::vector<std::weak_ptr<const Segment>> lent_;
  Sparse<ModelRetry> retry_;
  std::vector<Mailbox> early_mail_;
  std::unique_ptr<agent::AgentRun> agent_;
};

}  // namespace errand::engine
