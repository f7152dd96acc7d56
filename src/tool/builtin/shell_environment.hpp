#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace errand {

// Whether a variable of the environment may hold a secret. By its name: ERRAND_ in front, or a part
// between underscores that ends in KEY, TOKEN, SECRET, PASSWORD, PASSWD, PASSPHRASE or CREDENTIAL
// (or their plurals), or that is PASS or PAT, in either case. By its value: a URL with a password.
bool holds_secret(std::string_view name, std::string_view value);

// The variables ("NAME=value") that a command of the model gets: all that hold no secret.
std::vector<std::string> shell_environment(const std::vector<std::string>& variables);

}  // namespace errand
