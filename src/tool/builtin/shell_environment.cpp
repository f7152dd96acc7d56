#include "tool/builtin/shell_environment.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace errand {
namespace {

constexpr auto kSecretEndings = std::to_array<std::string_view>(
    {"key", "token", "secret", "password", "passwd", "passphrase", "credential"});
constexpr auto kSecretParts = std::to_array<std::string_view>({"pass", "pat"});

bool is_secret_part(std::string_view part) {
  if (std::find(kSecretParts.begin(), kSecretParts.end(), part) != kSecretParts.end()) return true;
  if (part.ends_with('s')) part.remove_suffix(1);
  return std::any_of(kSecretEndings.begin(), kSecretEndings.end(),
                     [&](std::string_view ending) { return part.ends_with(ending); });
}

// scheme://user:password@host
bool is_url_with_password(std::string_view value) {
  std::size_t scheme_end = value.find("://");
  if (scheme_end == std::string_view::npos) return false;
  std::string_view authority = value.substr(scheme_end + 3);
  authority = authority.substr(0, authority.find_first_of("/?#"));
  std::size_t at = authority.rfind('@');
  return at != std::string_view::npos &&
         authority.substr(0, at).find(':') != std::string_view::npos;
}

}  // namespace

bool holds_secret(std::string_view name, std::string_view value) {
  std::string lower = to_lower(name);
  if (lower.starts_with("errand_")) return true;
  for (std::string_view rest = lower; !rest.empty();) {
    std::size_t end = std::min(rest.find('_'), rest.size());
    if (is_secret_part(rest.substr(0, end))) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return is_url_with_password(value);
}

std::vector<std::string> shell_environment(const std::vector<std::string>& variables) {
  std::vector<std::string> kept;
  for (const std::string& variable : variables) {
    std::string_view whole = variable;
    std::size_t equals = whole.find('=');
    if (equals == std::string_view::npos) continue;
    if (!holds_secret(whole.substr(0, equals), whole.substr(equals + 1))) kept.push_back(variable);
  }
  return kept;
}

}  // namespace errand
