#pragma once

#include <cstddef>
#include <cstdint>

namespace errand::server {

// Bounds of what requests say, for handlers and for /openapi.json. Past them: invalid_argument.
inline constexpr std::int64_t kClaimMillisDefault = 60'000;
inline constexpr std::int64_t kClaimMillisMax = 86'400'000;
inline constexpr std::size_t kFeedbackExplanationCharsMax = 8000;
inline constexpr std::size_t kFeedbackContentCharsMax = 200'000;
inline constexpr std::size_t kKeyNameCharsMax = 200;
inline constexpr std::size_t kKeyScopesMax = 50;
inline constexpr std::size_t kKeyAgentsMax = 100;
inline constexpr std::size_t kAgentNameCharsMax = 200;
inline constexpr std::int64_t kKeyMillisMax = 3'155'760'000'000;  // a century: longer is a typo
inline constexpr std::size_t kIdempotencyKeyCharsMax = 255;

// The body of a request that needs no credential, such as one for a token. Past it: too_large.
inline constexpr std::size_t kOpenBodyBytesMax = 64U * 1024;

}  // namespace errand::server
