#pragma once

#include <string>
#include <string_view>

#include "net/client/http_client.hpp"

namespace errand::net {

// The whole body of an answer. too_large with the reason "answer_too_large": it has more bytes.
Task<Result<std::string>> read_whole(ClientStream* stream, std::size_t bytes_max);

// Whether the type of an answer, without its parameters, is `type`.
bool has_type(const ClientStream& stream, std::string_view type);

// What a status other than success means for a caller that needs the answer: unauthorized,
// forbidden, rate_limited, unavailable, and unsupported for all others.
ErrorCode code_of_status(int status);

}  // namespace errand::net
