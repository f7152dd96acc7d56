#pragma once

#include <memory>

#include "llm/model.hpp"

namespace errand::llm {

// Wraps a model that does not see: images are replaced by words. Vendors refuse the whole request
// of a model that is given an image and takes none.
class NoImagesModel final : public Model {
 public:
  explicit NoImagesModel(std::unique_ptr<Model> model) : model_(std::move(model)) {}

  std::unique_ptr<TurnStream> ask(TurnRequest request) override;
  OutputMechanism output_mechanism(const TurnRequest& request) const override {
    return model_->output_mechanism(request);
  }
  Task<Reachability> check() override { return model_->check(); }

 private:
  const std::unique_ptr<Model> model_;
};

}  // namespace errand::llm
