#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "llm/model.hpp"
#include "run/log/journal.hpp"

// The model that a test's engine asks.
namespace errand::engine::testing {

// A model's answer that is a refusal.
class RefusedTurn final : public llm::TurnStream {
 public:
  Task<std::vector<llm::TurnEvent>> next() override {
    std::vector<llm::TurnEvent> events;
    events.emplace_back(llm::Failed{
        {.error_class = "invalid_request", .message = "not like this", .api_status = 400}});
    co_return events;
  }
  void abort() override {}
};

// A model's answer that begins with who gives it, as a fallback model's does.
class SignedTurn final : public llm::TurnStream {
 public:
  SignedTurn(std::unique_ptr<llm::TurnStream> turn, AnsweredBy by)
      : turn_(std::move(turn)), by_(std::move(by)) {}
  Task<std::vector<llm::TurnEvent>> next() override {
    std::vector<llm::TurnEvent> events = co_await turn_->next();
    if (by_) events.insert(events.begin(), *std::exchange(by_, {}));
    co_return events;
  }
  void abort() override { turn_->abort(); }

 private:
  std::unique_ptr<llm::TurnStream> turn_;
  std::optional<AnsweredBy> by_;
};

// Counts how often a model's answer is read.
class CountedTurn final : public llm::TurnStream {
 public:
  CountedTurn(std::unique_ptr<llm::TurnStream> turn, int& reads)
      : turn_(std::move(turn)), reads_(reads) {}
  Task<std::vector<llm::TurnEvent>> next() override {
    ++reads_;
    return turn_->next();
  }
  void abort() override { turn_->abort(); }

 private:
  std::unique_ptr<llm::TurnStream> turn_;
  int& reads_;
};

// Tells of every question to the model before it is asked; those it says no to are refused.
class WatchedModel final : public llm::Model {
 public:
  using Watch = std::function<bool(const llm::TurnRequest&)>;
  WatchedModel(std::unique_ptr<llm::Model> model, Watch watch, const OutputMechanism& mechanism,
               const std::optional<AnsweredBy>& answered_by, int& reads)
      : model_(std::move(model)),
        watch_(std::move(watch)),
        mechanism_(mechanism),
        answered_by_(answered_by),
        reads_(reads) {}
  std::unique_ptr<llm::TurnStream> ask(llm::TurnRequest request) override {
    if (!watch_(request)) return std::make_unique<RefusedTurn>();
    std::unique_ptr<llm::TurnStream> turn =
        std::make_unique<CountedTurn>(model_->ask(std::move(request)), reads_);
    if (!answered_by_) return turn;
    return std::make_unique<SignedTurn>(std::move(turn), *answered_by_);
  }
  OutputMechanism output_mechanism(const llm::TurnRequest&) const override { return mechanism_; }

 private:
  std::unique_ptr<llm::Model> model_;
  Watch watch_;
  const OutputMechanism& mechanism_;
  const std::optional<AnsweredBy>& answered_by_;
  int& reads_;
};

}  // namespace errand::engine::testing
