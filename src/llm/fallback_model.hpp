#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "llm/model.hpp"

namespace errand::llm {

// A model under the name that callers know it by.
struct NamedModel {
  ModelInfo info;
  std::shared_ptr<Model> model;
  std::optional<Pricing> price = {};
};

// Whether another model may be asked after a failure of this class: the vendor is overloaded,
// broken or slow, rejects the key, or has used up its quota. A request that is itself at fault
// would fail with every model.
bool may_fall_back(std::string_view error_class);

// A model with fallback models. If a model fails before any part of its answer arrives, the next
// model gets the same request, a warning is logged, and the answer begins with AnsweredBy. Each
// model follows an output schema in its own way. If no model answers, the failure is the first
// model's. The request, with the bytes of its files, is dropped once no other model can be asked:
// when the last model has been asked, or when an answer has begun.
class FallbackModel final : public Model {
 public:
  // The models, in the order in which they are asked; at least one.
  FallbackModel(std::vector<NamedModel> models, Log& log);

  std::unique_ptr<TurnStream> ask(TurnRequest request) override;
  // The first model's.
  OutputMechanism output_mechanism(const TurnRequest& request) const override {
    return models_.front().model->output_mechanism(request);
  }
  Task<Reachability> check() override { return models_.front().model->check(); }

 private:
  const std::vector<NamedModel> models_;
  Log& log_;
};

}  // namespace errand::llm
