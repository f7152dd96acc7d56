#pragma once

#include <memory>

#include "llm/model.hpp"

namespace errand::llm {

// A model whose calls are held back until its turn has finished, together with the vendor's blocks
// that contain them. No call starts early, so a turn that breaks off leaves nothing behind and can
// be asked again as a whole. Text and thinking pass at once.
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
