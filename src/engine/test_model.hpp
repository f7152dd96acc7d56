#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "llm/model.hpp"

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

// Tells of every question to the model before it is asked; those it says no to are refused.
class WatchedModel final : public llm::Model {
 public:
  using Watch = std::function<bool(const llm::TurnRequest&)>;
  WatchedModel(std::unique_ptr<llm::Model> model, Watch watch, const OutputMechanism& mechanism)
      : model_(std::move(model)), watch_(std::move(watch)), mechanism_(mechanism) {}
  std::unique_ptr<llm::TurnStream> ask(llm::TurnRequest request) override {
    if (!watch_(request)) return std::make_unique<RefusedTurn>();
    return model_->ask(request);
  }
  OutputMechanism output_mechanism(const llm::TurnRequest&) const override { return mechanism_; }

 private:
  std::unique_ptr<llm::Model> model_;
  Watch watch_;
  const OutputMechanism& mechanism_;
};

}  // namespace errand::engine::testing
