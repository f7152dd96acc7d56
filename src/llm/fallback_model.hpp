#pragma once

#include <memory>
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
};

// True if another model may answer where one failed with this class: the vendor is busy, broken,
// slow, or does not take our key or our money. What is wrong with the question itself is wrong for
// every model.
bool may_fall_back(std::string_view error_class);

// A model with others behind it: when nothing at all came of an answer, the next one is asked the
// same question, with a warning in the log, and the answer says whose it is. Each follows an output
// schema in its own way. If none has an answer, the failure is the first one's.
class FallbackModel final : public Model {
 public:
  // In the order in which they are asked; at least one.
  FallbackModel(std::vector<NamedModel> models, Log& log);

  std::unique_ptr<TurnStream> ask(TurnRequest request) override;
  // Of the first one.
  OutputMechanism output_mechanism(const TurnRequest& request) const override {
    return models_.front().model->output_mechanism(request);
  }
  Task<Reachability> check() override { return models_.front().model->check(); }

 private:
  const std::vector<NamedModel> models_;
  Log& log_;
};

}  // namespace errand::llm
