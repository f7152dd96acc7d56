#include "host/model_knobs.hpp"

#include <array>
#include <cstdlib>

#include "base/text.hpp"

namespace errand::host {
namespace {

// The first number in a name, such as 2.5 in "gemini-2.5-pro"; 0 if there is none.
double version_in(std::string_view name) {
  std::size_t digit = name.find_first_of("0123456789");
  if (digit == std::string_view::npos) return 0;
  return std::strtod(std::string(name.substr(digit)).c_str(), nullptr);
}

bool has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

// The name without a gateway's prefix, as in "openai/gpt-5.5".
std::string_view bare(std::string_view model) {
  std::size_t slash = model.rfind('/');
  return slash == std::string_view::npos ? model : model.substr(slash + 1);
}

}  // namespace

std::string_view lowest_effort(std::string_view model) {
  std::string_view name = bare(model);
  if (name.starts_with("gpt-oss")) return "low";
  if (name.starts_with("gpt-")) {
    if (has(name, "chat")) return "";  // ChatGPT's models take no effort
    double version = version_in(name);
    if (version < 5) return "";
    if (has(name, "-pro") || has(name, "-codex")) return "low";
    return version < 5.1 ? "minimal" : "none";
  }
  bool is_o_series = name.size() >= 2 && name[0] == 'o' && name[1] >= '1' && name[1] <= '9';
  return is_o_series ? "low" : "";
}

llm::AnthropicThinking anthropic_thinking(std::string_view model) {
  using enum llm::AnthropicThinking;
  std::string_view name = bare(model);
  if (has(name, "claude-3-7")) return budget;
  if (has(name, "claude-2") || has(name, "claude-3") || has(name, "instant")) return none;
  // These models have a thinking budget, such as "claude-opus-4-20250514" and
  // "claude-opus-4-5-20251101"; later models have efforts.
  constexpr std::array<std::string_view, 6> kBudgeted = {"-4-0",   "-4-1", "-4-5",
                                                         "-4-202", "-4@",  "-4-latest"};
  for (std::string_view part : kBudgeted) {
    if (has(name, part)) return budget;
  }
  return name.ends_with("-4") ? budget : adaptive;
}

void set_thinking(llm::GeminiOptions& options) {
  constexpr std::int64_t kLeastOfPro = 128;  // thinking cannot be switched off in 2.5 Pro
  std::string_view name = bare(options.model);
  double version = version_in(name);
  bool is_pro = has(name, "pro");
  if (has(name, "gemma") || (version > 0 && version < 2.5)) {
    options.thinking = llm::GeminiThinking::none;
  } else if (version > 0 && version < 3) {
    options.thinking = llm::GeminiThinking::budget;
    options.thinking_budget_min = is_pro ? kLeastOfPro : 0;
  } else {
    options.thinking = llm::GeminiThinking::level;
    options.thinking_level_min = is_pro ? "LOW" : "MINIMAL";
    // The placeholder that Google documents for calls without a signature.
    options.unsigned_call_signature = "skip_thought_signature_validator";
  }
}

}  // namespace errand::host
