#pragma once

#include "json/value.hpp"

namespace errand::json {

// What stands for a secret that was taken out.
inline constexpr std::string_view kRedacted = "[redacted]";

// Takes out what looks like a secret, wherever it stands: the value of every member whose name ends
// with a word such as "token", "secret", "password", "apiKey", "authorization" or "cookie", however
// it is spelled, and every value below "headers" and "env". JSON text under the name "arguments",
// as models write it, is looked into as well. Text that merely mentions a secret stays. A property
// of a JSON Schema with such a name is no secret: it loses what may be one, such as its default,
// and keeps what says how its value looks.
void redact_secrets(Value& value);

}  // namespace errand::json
