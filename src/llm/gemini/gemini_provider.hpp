#pragma once

#include <optional>
#include <string>

#include "llm/provider.hpp"

namespace errand::llm {

// How a model is made to think.
enum class GeminiThinking {
  none,   // it cannot
  level,  // a word; Gemini 3 and later
  budget  // a number of tokens; up to Gemini 2.5
};
constexpr std::int64_t kGeminiThinkingTokensMax = 24'576;

struct GeminiOptions {
  std::string model;
  std::string models_path = "/v1beta/models/";
  std::string api_key;   // empty: none is sent
  HeaderList headers{};  // sent besides
  std::optional<std::int64_t> output_tokens_max{};
  GeminiThinking thinking = GeminiThinking::level;
  std::string thinking_level_min = "MINIMAL";  // what level 0 becomes
  std::int64_t thinking_budget_min = 0;        // some models cannot think with less
  // The vendor's own way does not go together with tools: with tools it is the answer tool.
  OutputMechanism output = OutputMechanism::native;
  // Put on the first call of a turn if that has no signature, for models that refuse it then: the
  // turn is another model's, or its first call was the answer tool's. Empty: none.
  std::string unsigned_call_signature{};
};

// The provider of its blocks, as the journal names it: changing it makes old ones a stranger's.
constexpr const char* kGeminiOrigin = "gemini";

// Google's Gemini. A turn's parts are kept verbatim, signatures included, and sent back to the same
// model. Calls without an id of the vendor's are sent back without one.
class GeminiProvider final : public Provider {
 public:
  explicit GeminiProvider(GeminiOptions options) : options_(std::move(options)) {}

  ProviderRequest build(const TurnRequest& request) const override;
  std::unique_ptr<StreamDecoder> make_decoder(const TurnRequest& request) const override;
  ApiFailure classify(const ApiAnswer& answer) const override;
  OutputMechanism output_mechanism(const TurnRequest& request) const override;
  ProviderProbe probe() const override;

 private:
  const GeminiOptions options_;
};

}  // namespace errand::llm
