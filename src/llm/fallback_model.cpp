#include "llm/fallback_model.hpp"

#include <optional>
#include <utility>

#include "base/assert.hpp"
#include "llm/failure.hpp"

namespace errand::llm {
namespace {

using Events = std::vector<TurnEvent>;

// Streams the answer of the first model that gives one.
class FallbackTurn final : public TurnStream {
 public:
  FallbackTurn(const std::vector<NamedModel>& models, TurnRequest request, Log& log)
      : models_(models), log_(log), request_(std::move(request)) {
    ask();
  }

  Task<Events> next() override {
    for (;;) {
      Events events = co_await stream_->next();
      auto* failed = std::get_if<Failed>(&events.front());
      if (!failed || has_begun_) {
        if (!has_begun_ && at_ > 0) events.insert(events.begin(), answered_by());
        has_begun_ = true;
        request_.reset();
        co_return events;
      }
      if (!first_failure_) first_failure_ = *failed;
      bool goes_on = request_ && !is_aborted_ && may_fall_back(failed->failure.error_class);
      if (!goes_on) {
        request_.reset();
        first_failure_->refuses_schema = refuses_schema(failed->failure);
        events.front() = *first_failure_;
        co_return events;
      }
      ask_next(failed->failure);
    }
  }

  void abort() override {
    is_aborted_ = true;
    stream_->abort();
  }

 private:
  void ask() {
    TurnRequest request = *request_;
    bool is_last = at_ + 1 == models_.size();
    if (is_last) request_.reset();
    Model& model = *models_[at_].model;
    bool is_fallback = at_ > 0;
    if (is_fallback && request.output_schema) mechanism_ = model.output_mechanism(request);
    stream_ = model.ask(std::move(request));
  }

  void ask_next(const ModelFailure& failure) {
    const NamedModel& next = models_[++at_];
    log_.warning("a model gave no answer; asking the next fallback model",
                 {{"model", models_[at_ - 1].info.id},
                  {"next", next.info.id},
                  {"errorClass", failure.error_class},
                  {"error", failure.message}});
    ask();
  }

  AnsweredBy answered_by() const {
    return {
        .model = models_[at_].info, .output_mechanism = mechanism_, .price = models_[at_].price};
  }

  bool refuses_schema(const ModelFailure& failure) const {
    return mechanism_ != OutputMechanism::plain && is_refused_question(failure);
  }

  const std::vector<NamedModel>& models_;
  Log& log_;
  std::optional<TurnRequest> request_;                  // reset when no other model can be asked
  std::size_t at_ = 0;                                  // the model being asked
  std::unique_ptr<TurnStream> stream_;                  // the stream of its answer
  OutputMechanism mechanism_ = OutputMechanism::plain;  // of the fallback model
  bool has_begun_ = false;
  bool is_aborted_ = false;
  std::optional<Failed> first_failure_;
};

}  // namespace

bool may_fall_back(std::string_view error_class) {
  return error_class == error_class::kRateLimit || error_class == error_class::kOverloaded ||
         error_class == error_class::kServer || error_class == error_class::kTimeout ||
         error_class == error_class::kQuota || error_class == error_class::kAuth;
}

FallbackModel::FallbackModel(std::vector<NamedModel> models, Log& log)
    : models_(std::move(models)), log_(log) {
  ERRAND_ASSERT(!models_.empty());
}

std::unique_ptr<TurnStream> FallbackModel::ask(TurnRequest request) {
  return std::make_unique<FallbackTurn>(models_, std::move(request), log_);
}

}  // namespace errand::llm
