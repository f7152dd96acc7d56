#pragma once

#include <memory>

#include "llm/model.hpp"

namespace errand::llm {

// A model whose calls, and the vendor's blocks they stand in, are held until its turn has finished.
// No call starts early then, so that a turn that breaks leaves nothing behind and is asked again as
// a whole. Text and thoughts come as they do.
class HeldCallsModel final : public Model {
 public:
  explicit HeldCallsModel(std::unique_ptr<Model> model) : model_(std::move(model)) {}

  std::unique_ptr<TurnStream> ask(TurnRequest request) override;
  OutputMechanism output_mechanism(const TurnRequest& request) const override {
    return model_->output_mechanism(request);
  }
  Task<Reachability> check() override { return model_->check(); }

 private:
  const std::unique_ptr<Model> model_;
};

}  // namespace errand::llm
