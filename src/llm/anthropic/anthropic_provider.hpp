#pragma once

#include <optional>
#include <string>

#include "llm/provider.hpp"

namespace errand::llm {

// How a model is made to think.
enum class AnthropicThinking {
  none,     // it cannot, or always does
  budget,   // a number of tokens, at least kThinkingTokensMin
  adaptive  // an effort
};
constexpr std::int64_t kThinkingTokensMin = 1024;

struct AnthropicOptions {
  std::string model;
  std::string path = "/v1/messages";
  std::string api_key;  // empty: none is sent
  std::string version = "2023-06-01";
  HeaderList headers{};  // sent besides
  std::int64_t output_tokens_max = 16'384;
  AnthropicThinking thinking = AnthropicThinking::budget;
  // A schema that the vendor's own way does not take goes by the answer tool.
  OutputMechanism output = OutputMechanism::answer_tool;
};

// The provider of its blocks, as the journal names it: changing it makes old ones a stranger's.
constexpr const char* kAnthropicOrigin = "anthropic";

// Anthropic's Messages. A turn's blocks are kept verbatim, signatures included, and sent back to
// the same model.
class AnthropicProvider final : public Provider {
 public:
  explicit AnthropicProvider(AnthropicOptions options) : options_(std::move(options)) {}

  ProviderRequest build(const TurnRequest& request) const override;
  std::unique_ptr<StreamDecoder> make_decoder(const TurnRequest& request) const override;
  ApiFailure classify(const ApiAnswer& answer) const override;
  OutputMechanism output_mechanism(const TurnRequest& request) const override;
  ProviderProbe probe() const override;

 private:
  const AnthropicOptions options_;
};

}  // namespace errand::llm
