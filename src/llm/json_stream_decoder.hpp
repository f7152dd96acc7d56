#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "json/value.hpp"
#include "llm/provider.hpp"

namespace errand::llm {

// What the decoders of all vendors have in common: events are JSON objects, an answer has a limit,
// and it ends once.
class JsonStreamDecoder : public StreamDecoder {
 public:
  std::vector<TurnEvent> feed(std::string_view name, std::string_view data) final;
  std::vector<TurnEvent> finish() final;
  std::optional<milliseconds> retry_after() const final { return retry_after_; }

 protected:
  using Events = std::vector<TurnEvent>;

  // The event is a BriefValue: no copy of a part of it is kept.
  virtual void take(std::string_view name, const json::Object& event, Events& out) = 0;
  // "[DONE]", by which most vendors mean nothing.
  virtual void take_done(Events&) {}
  // The body is over, and nothing has ended the answer yet.
  virtual void end_body(Events& out);

  // Both end the answer.
  void succeed(std::string_view finish_reason, const Usage& usage, Events& out);
  void fail(ModelFailure failure, Events& out);

  bool is_over() const { return over_; }
  void set_retry_after(std::optional<milliseconds> wait) { retry_after_ = wait; }

 private:
  void take_event(std::string_view name, std::string_view data, Events& out);

  std::size_t bytes_ = 0;
  std::optional<milliseconds> retry_after_;
  bool over_ = false;
};

}  // namespace errand::llm
