#include "llm/fake/request_log.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "llm/fake/test_formats.hpp"

namespace errand::llm::request_log_test {
namespace {

net::Request asked(std::string body) {
  net::Request request;
  request.method = net::Method::post;
  request.path = "/v1/messages";
  request.headers = {{"Content-Type", "application/json"}};
  request.body = std::move(body);
  return request;
}

TEST(RequestLog, ShowsWhatWasAskedInOrder) {
  RequestLog log;
  log.add(asked(R"({"model":"m"})"), {.status = 200, .turn = 1, .is_json = true});
  log.add(asked("{oops"), {.status = 400});
  EXPECT_EQ(object_of(log.to_json()), object_of(R"({"requests":[
      {"number":1,"method":"POST","path":"/v1/messages","query":"",
       "headers":{"content-type":"application/json"},"body":{"model":"m"},"turn":1,"status":200},
      {"number":2,"method":"POST","path":"/v1/messages","query":"",
       "headers":{"content-type":"application/json"},"body":"{oops","turn":null,"status":400}],
      "dropped":0})"));
  log.clear();
  EXPECT_EQ(log.to_json(), R"({"requests":[],"dropped":0})");
}

TEST(RequestLog, TakesKeysOut) {
  RequestLog log;
  net::Request request = asked("{}");
  request.query = "alt=sse&key=geheim";
  request.headers = {{"Authorization", "Bearer geheim"},
                     {"X-Api-Key", "geheim"},
                     {"x-goog-api-key", "geheim"},
                     {"Cookie", "geheim"},
                     {"x-team", "a"}};
  log.add(request, {.status = 200, .is_json = true});
  EXPECT_EQ(log.to_json().find("geheim"), std::string::npos) << log.to_json();
  EXPECT_NE(log.to_json().find(R"("x-team":"a")"), std::string::npos);
  EXPECT_NE(log.to_json().find(R"("query":"alt=sse&key=[redacted]")"), std::string::npos);
}

TEST(RequestLog, DropsTheOldestBeyondItsBounds) {
  RequestLog many;
  for (std::size_t i = 0; i < RequestLog::kRequestsMax + 3; ++i) {
    many.add(asked("{}"), {.status = 200, .is_json = true});
  }
  auto shown = object_of(many.to_json());
  EXPECT_EQ(shown.at("requests").as_array().size(), RequestLog::kRequestsMax);
  EXPECT_EQ(shown.at("requests").as_array()[0].at("number"), 4);
  EXPECT_EQ(shown.at("dropped"), 3);

  RequestLog large;
  std::string body = cat("\"", std::string(RequestLog::kBytesMax / 2, 'x'), "\"");
  large.add(asked(body), {.status = 400, .is_json = true});
  large.add(asked(body), {.status = 400, .is_json = true});
  EXPECT_LT(large.to_json().size(), RequestLog::kBytesMax);
}

}  // namespace
}  // namespace errand::llm::request_log_test
