#include "net/server/router.hpp"

#include <gtest/gtest.h>

#include <string>

#include "net/server/test_support.hpp"

namespace errand::net::test::router_test {
namespace {

template <char kName>
Task<Response> named(Request request) {
  Response response;
  response.body.push_back(kName);
  for (const std::string& param : request.params) append(response.body, "|", param);
  co_return response;
}

class RouterTest : public testing::Test {
 protected:
  RouterTest() {
    router_.add(Method::get, "/", named<'r'>);
    router_.add(Method::get, "/runs", named<'l'>);
    router_.add(Method::post, "/runs", named<'c'>);
    router_.add(Method::get, "/runs/{}", named<'g'>);
    router_.add(Method::delete_, "/spaces/{}/runs/{}", named<'d'>);
  }

  // "status body allow".
  std::string ask(Method method, std::string path) {
    Request request;
    request.method = method;
    request.path = std::move(path);
    Response response = loop_.run(router_.handle(std::move(request)));
    return cat(response.status, " ", response.body, " ", find_header(response.headers, "allow"));
  }

  Loop loop_;
  Router router_{render_test_error};
};

TEST_F(RouterTest, FindsByMethodAndPath) {
  EXPECT_EQ(ask(Method::get, "/"), "200 r ");
  EXPECT_EQ(ask(Method::get, "/runs"), "200 l ");
  EXPECT_EQ(ask(Method::post, "/runs"), "200 c ");
}

TEST_F(RouterTest, DecodesParameters) {
  EXPECT_EQ(ask(Method::get, "/runs/a%2Fb%20c"), "200 g|a/b c ");
  EXPECT_EQ(ask(Method::delete_, "/spaces/s/runs/+"), "200 d|s|+ ");
}

TEST_F(RouterTest, MatchesLiteralsInTheirDecodedForm) {
  EXPECT_EQ(ask(Method::get, "/r%75ns"), "200 l ");
}

TEST_F(RouterTest, HeadGoesToGet) {
  EXPECT_EQ(ask(Method::head, "/runs/7"), "200 g|7 ");
}

TEST_F(RouterTest, UnknownPathsAreNotFound) {
  EXPECT_EQ(ask(Method::get, "/none"), "404 not_found ");
  EXPECT_EQ(ask(Method::get, "/runs/"), "404 not_found ");
  EXPECT_EQ(ask(Method::get, "//runs"), "404 not_found ");
  EXPECT_EQ(ask(Method::get, "/runs//"), "404 not_found ");
  EXPECT_EQ(ask(Method::get, "/spaces//runs/1"), "404 not_found ");
  EXPECT_EQ(ask(Method::get, "*"), "404 not_found ");
  EXPECT_EQ(ask(Method::get, ""), "404 not_found ");
}

TEST_F(RouterTest, OtherMethodsOfAPathAreNamed) {
  EXPECT_EQ(ask(Method::put, "/runs"), "405 method_not_allowed GET, HEAD, POST");
  EXPECT_EQ(ask(Method::head, "/spaces/s/runs/1"), "405 method_not_allowed DELETE");
}

TEST_F(RouterTest, MalformedEscapesAreRefused) {
  EXPECT_EQ(ask(Method::get, "/runs/%2"), "400 bad_request ");
  EXPECT_EQ(ask(Method::get, "/runs/%zz"), "400 bad_request ");
}

Result<BodyTerms> admit_known(const Request& head) {
  if (head.params.at(0) == "known") return BodyTerms{.holder = "k1"};
  return Error(ErrorCode::unauthorized, "who?");
}

// The terms for a body sent to this path, as "holder bytes_max" or an error code.
std::string terms_for(const Router& router, Method method, std::string path) {
  Request head;
  head.method = method;
  head.path = std::move(path);
  auto terms = router.admit(head, {.bytes_max = 5});
  if (!terms) return std::string(to_string(terms.error().code()));
  return cat(terms->holder, " ", terms->bytes_max.value_or(0));
}

TEST(RouterAdmission, GoesByTheRouteWhateverTheSpellingOfThePath) {
  Router router(render_test_error);
  router.add(Method::post, "/spaces/{}/runs", named<'c'>, admit_known);
  router.add(Method::post, "/open", named<'o'>);
  EXPECT_EQ(terms_for(router, Method::post, "/spaces/known/runs"), "k1 0");
  EXPECT_EQ(terms_for(router, Method::post, "/spaces/other/runs"), "unauthorized");
  EXPECT_EQ(terms_for(router, Method::post, "/sp%61ces/other/r%75ns"), "unauthorized");
  EXPECT_EQ(terms_for(router, Method::post, "/open"), " 0");
  EXPECT_EQ(terms_for(router, Method::put, "/open"), " 5");
  EXPECT_EQ(terms_for(router, Method::post, "/none"), "not_found");
  EXPECT_EQ(terms_for(router, Method::post, "/open/%zz"), "invalid_argument");
}

TEST(RequestQuery, DecodesValues) {
  Request request;
  request.query = "a=1&b=x+y%26&&c&a=2&bad=%zz&%64=e=f";
  EXPECT_EQ(request.query_param("a"), "1");
  EXPECT_EQ(request.query_param("b"), "x y&");
  EXPECT_EQ(request.query_param("c"), "");
  EXPECT_EQ(request.query_param("d"), "e=f");
  EXPECT_EQ(request.query_param("bad"), std::nullopt);
  EXPECT_EQ(request.query_param("none"), std::nullopt);
  EXPECT_EQ(request.query_params("a"), (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(request.query_params("bad"), std::vector<std::string>());
}

}  // namespace
}  // namespace errand::net::test::router_test
