#include "llm/openai/errors.hpp"

#include <gtest/gtest.h>

#include "support/decode_stream.hpp"

namespace errand::llm::errors_test {
namespace {

std::string of(int status, std::string_view body, HeaderList headers = {}) {
  return verdict(classify_openai(
      {.status = status, .headers = std::move(headers), .body = body, .now = from_millis(0)}));
}

TEST(OpenAiErrors, CodesAndStatuses) {
  EXPECT_EQ(
      of(401,
         R"({"error":{"message":"no","type":"invalid_request_error","code":"invalid_api_key"}})"),
      "auth final 401 invalid_api_key -");
  EXPECT_EQ(of(403, R"({"error":{"message":"no"}})"), "auth final 403  -");
  EXPECT_EQ(
      of(429,
         R"({"error":{"message":"pay","type":"insufficient_quota","code":"insufficient_quota"}})"),
      "quota final 429 insufficient_quota -");
  EXPECT_EQ(of(429, R"({"error":{"message":"slow","type":"tokens","code":"rate_limit_exceeded"}})"),
            "rate_limit retryable 429 rate_limit_exceeded -");
  EXPECT_EQ(of(503, R"({"error":{"message":"busy","code":"slow_down"}})"),
            "overloaded retryable 503 slow_down -");
  EXPECT_EQ(of(500, R"({"error":{"message":"oh","type":"server_error"}})"),
            "server retryable 500 server_error -");
  EXPECT_EQ(of(408, ""), "timeout retryable 408  -");
  EXPECT_EQ(of(504, ""), "timeout retryable 504  -");
  EXPECT_EQ(of(404, R"({"error":{"code":"DeploymentNotFound","message":"no"}})"),
            "invalid_request final 404 DeploymentNotFound -");
  EXPECT_EQ(of(400, R"({"error":{"message":"long","code":"context_length_exceeded"}})"),
            "context_window final 400 context_length_exceeded -");
  EXPECT_EQ(of(400, R"({"error":{"code":"content_filter","message":"no","innererror":{}}})"),
            "content_filter final 400 content_filter -");
}

TEST(OpenAiErrors, ShapesOfCompatibleServers) {
  EXPECT_EQ(
      of(400,
         R"({"error":{"code":400,"message":"no","type":"exceed_context_size_error","n_ctx":8}})"),
      "context_window final 400 exceed_context_size_error -");
  EXPECT_EQ(
      of(503, R"({"error":{"code":503,"message":"Loading model","type":"unavailable_error"}})"),
      "overloaded retryable 503 unavailable_error -");
  EXPECT_EQ(
      of(400, R"({"object":"error","message":"maximum context length is 5 tokens","code":400})"),
      "context_window final 400  -");
  EXPECT_EQ(of(400, R"({"code":"invalid-argument","error":"bad model"})"),
            "invalid_request final 400 invalid-argument -");
  EXPECT_EQ(of(422, R"({"detail":[{"loc":["body"],"msg":"bad"}]})"),
            "invalid_request final 422  -");
  EXPECT_EQ(of(200, R"({"error":{"code":502,"message":"upstream"}})"), "server retryable 502  -");
  EXPECT_EQ(of(200, "hello"), "server retryable 0  -");
}

TEST(OpenAiErrors, APageOfHtmlIsNoMessage) {
  ApiFailure failure = classify_openai({.status = 502, .body = "<html><h1>Bad Gateway</h1>"});
  EXPECT_EQ(verdict(failure), "server retryable 502  -");
  EXPECT_EQ(failure.failure.message, "the model's server answered 502");
}

TEST(OpenAiErrors, EveryFormOfRetryAfter) {
  EXPECT_EQ(of(429, "", {{"retry-after-ms", "12.5"}, {"retry-after", "9"}}),
            "rate_limit retryable 429  13ms");
  EXPECT_EQ(of(429, "", {{"Retry-After", "2"}}), "rate_limit retryable 429  2000ms");
  EXPECT_EQ(of(429, "", {{"retry-after", "Thu, 01 Jan 1970 00:00:07 GMT"}}),
            "rate_limit retryable 429  7000ms");
  EXPECT_EQ(of(429, "", {{"retry-after", "Wed, 31 Dec 1969 00:00:07 GMT"}}),
            "rate_limit retryable 429  -");
  EXPECT_EQ(of(429, "", {{"retry-after", "-1"}}), "rate_limit retryable 429  -");
  EXPECT_EQ(of(429, "", {{"retry-after", "1e300"}}), "rate_limit retryable 429  -");
  EXPECT_EQ(of(429, "", {{"retry-after", "nan"}}), "rate_limit retryable 429  -");
  EXPECT_EQ(of(429, "", {{"retry-after", "soon"}}), "rate_limit retryable 429  -");
  EXPECT_EQ(of(429, R"({"error":{"message":"Please try again in 35 seconds."}})"),
            "rate_limit retryable 429  35000ms");
  EXPECT_EQ(of(429, R"({"error":{"message":"Please try again in 500ms."}})"),
            "rate_limit retryable 429  500ms");
}

TEST(OpenAiErrors, TheServerMayDecideAboutRetries) {
  EXPECT_EQ(of(500, "", {{"x-should-retry", "false"}}), "server final 500  -");
  EXPECT_EQ(of(409, "", {{"x-should-retry", "true"}}), "invalid_request retryable 409  -");
}

}  // namespace
}  // namespace errand::llm::errors_test
