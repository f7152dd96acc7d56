#pragma once

#include <optional>
#include <string>

#include "llm/provider.hpp"

namespace errand::llm {

// The provider of OpenAI's own blocks, as the journal names it: changing it makes old ones a
// stranger's.
constexpr const char* kResponsesOrigin = "openai-responses";

struct ResponsesOptions {
  std::string model;
  std::string path = "/v1/responses";
  std::string models_path{};  // of a list that need not have the model; empty: beside `path`
  // Whose blocks these are: what one vendor encrypted, no other can read.
  std::string origin = kResponsesOrigin;
  std::string api_key;   // empty: none is sent
  HeaderList headers{};  // sent besides
  std::optional<std::int64_t> output_tokens_max{};
  OutputMechanism output = OutputMechanism::native;
  // The least effort the model knows: "none", "minimal", "low". Empty: it takes no effort at all.
  std::string effort_min{};
};

// OpenAI's Responses. Nothing is stored at the vendor's: each request carries the whole
// conversation, with every output item of earlier turns as it came, encrypted reasoning included.
class ResponsesProvider final : public Provider {
 public:
  explicit ResponsesProvider(ResponsesOptions options) : options_(std::move(options)) {}

  ProviderRequest build(const TurnRequest& request) const override;
  std::unique_ptr<StreamDecoder> make_decoder(const TurnRequest& request) const override;
  ApiFailure classify(const ApiAnswer& answer) const override;
  OutputMechanism output_mechanism(const TurnRequest&) const override { return options_.output; }
  ProviderProbe probe() const override;

 private:
  const ResponsesOptions options_;
};

}  // namespace errand::llm
