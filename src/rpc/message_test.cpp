#include "rpc/message.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::rpc::message_test {
namespace {

Incoming read(std::string_view text) {
  auto messages = read_messages(text, Batches::refused).value();
  EXPECT_EQ(messages.size(), 1U);
  return messages.front();
}

Malformed refused(Malformed::Kind kind, std::optional<Id> id, std::int64_t error,
                  std::string message) {
  return {
      .kind = kind, .id = std::move(id), .error = {.code = error, .message = std::move(message)}};
}

using Kind = Malformed::Kind;

TEST(RpcMessage, RequestsHaveAnIdOfEitherKind) {
  EXPECT_EQ(read(R"({"jsonrpc":"2.0","id":7,"method":"m","params":{"a":1}})"),
            Incoming(Request{.id = 7, .method = "m", .params = {{"a", 1}}}));
  EXPECT_EQ(read(R"({"jsonrpc":"2.0","id":"x","method":"m"})"),
            Incoming(Request{.id = "x", .method = "m"}));
}

TEST(RpcMessage, WithoutAnIdItIsANotification) {
  EXPECT_EQ(read(R"({"jsonrpc":"2.0","method":"m","params":null})"),
            Incoming(Notification{.method = "m"}));
}

TEST(RpcMessage, ResponsesHaveAResultOrAnError) {
  EXPECT_EQ(read(R"({"result":[1],"jsonrpc":"2.0","id":7})"),
            Incoming(Response{.id = 7, .answer = json::Value(json::Array{1})}));
  EXPECT_EQ(read(R"({"jsonrpc":"2.0","id":7,"result":null})"),
            Incoming(Response{.id = 7, .answer = json::Value()}));
  EXPECT_EQ(
      read(R"({"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no","data":{}}})"),
      Incoming(Response{
          .id = 7,
          .answer = RpcError{.code = -1, .message = "no", .data = json::Value(json::Object())}}));
}

TEST(RpcMessage, AnErrorMayBeAboutAMessageWithoutAKnownId) {
  EXPECT_EQ(read(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}})"),
            Incoming(Response{.answer = RpcError{.code = -32000, .message = "no"}}));
}

TEST(RpcMessage, MalformedRequestsKeepTheirIdIfItCanBeRead) {
  EXPECT_EQ(read("3"), Incoming(refused(Kind::request, {}, code::kInvalidRequest,
                                        "a message must be an object, not an integer")));
  EXPECT_EQ(read("[]"), Incoming(refused(Kind::request, {}, code::kInvalidRequest,
                                         "a message must be an object, not an array")));
  EXPECT_EQ(
      read(R"({"jsonrpc":"1.0","id":7,"method":"m"})"),
      Incoming(refused(Kind::request, 7, code::kInvalidRequest, "\"jsonrpc\" must be \"2.0\"")));
  EXPECT_EQ(
      read(R"({"jsonrpc":"2.0","id":7,"method":3})"),
      Incoming(refused(Kind::request, 7, code::kInvalidRequest, "\"method\" must be a string")));
  EXPECT_EQ(read(R"({"jsonrpc":"2.0","id":1.5,"method":"m"})"),
            Incoming(refused(Kind::request, {}, code::kInvalidRequest,
                             "\"id\" must be a string or an integer")));
  EXPECT_EQ(
      read(R"({"jsonrpc":"2.0","id":7,"method":"m","params":[1]})"),
      Incoming(refused(Kind::request, 7, code::kInvalidParams, "\"params\" must be an object")));
  EXPECT_EQ(read(R"({"jsonrpc":"2.0","id":7})"),
            Incoming(refused(Kind::request, 7, code::kInvalidRequest,
                             "a message must have a method, a result or an error")));
}

TEST(RpcMessage, MalformedResponsesAreToldFromRequests) {
  EXPECT_EQ(read(R"({"jsonrpc":"2.0","id":7,"result":1,"error":{"code":1}})"),
            Incoming(refused(Kind::response, 7, code::kInvalidRequest,
                             "it has both a result and an error")));
  EXPECT_EQ(read(R"({"jsonrpc":"2.0","id":7,"error":"no"})"),
            Incoming(refused(Kind::response, 7, code::kInvalidRequest, "its error has no code")));
  EXPECT_EQ(
      read(R"({"id":7,"result":1})"),
      Incoming(refused(Kind::response, 7, code::kInvalidRequest, "\"jsonrpc\" must be \"2.0\"")));
}

TEST(RpcMessage, TextThatIsNotJsonIsAParseError) {
  auto message = std::get<Malformed>(read("Server started"));
  EXPECT_EQ(message.error.code, code::kParseError);
}

TEST(RpcMessage, ABatchIsReadWhereItIsAllowed) {
  std::string text = R"([{"jsonrpc":"2.0","method":"a"},3,{"jsonrpc":"2.0","id":1,"result":2}])";
  auto messages = read_messages(text, Batches::accepted).value();
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_EQ(messages[0], Incoming(Notification{.method = "a"}));
  EXPECT_TRUE(std::holds_alternative<Malformed>(messages[1]));
  EXPECT_EQ(messages[2], Incoming(Response{.id = 1, .answer = json::Value(2)}));
  EXPECT_TRUE(std::holds_alternative<Malformed>(read(text)));
}

TEST(RpcMessage, ABatchHasALimit) {
  json::Array batch(kBatchMax + 1, json::Value(3));
  EXPECT_EQ(read_messages(json::write(batch), Batches::accepted).value().size(), 1U);
}

TEST(RpcMessage, AMessageWithTooManyValuesIsNotRead) {
  // The message itself, its version, its id and the list are values, too.
  json::Array many(json::kStrangersValuesMax - 4, json::Value(0));
  auto text = [&many] { return write(Response{.id = 1, .answer = json::Value(many)}); };
  EXPECT_TRUE(read_messages(text(), Batches::refused));
  many.emplace_back(0);
  auto refused = read_messages(text(), Batches::refused);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason(), "too_complex");
  EXPECT_EQ(refused.error().limit(), "jsonValues");
}

TEST(RpcMessage, WhatIsWrittenIsReadBack) {
  Request request{.id = "a\"b", .method = "m", .params = {{"x", json::Array{1, "2"}}}};
  Notification notification{.method = "n"};
  Response result{.id = 3, .answer = json::Value(json::Object{{"ok", true}})};
  Response error{.id = {}, .answer = RpcError{.code = -5, .message = "m", .data = json::Value(1)}};
  EXPECT_EQ(read(write(request)), Incoming(request));
  EXPECT_EQ(read(write(notification)), Incoming(notification));
  EXPECT_EQ(read(write(result)), Incoming(result));
  EXPECT_EQ(read(write(error)), Incoming(error));
}

TEST(RpcMessage, TheIdOfAResponseIsFoundAtEitherEnd) {
  EXPECT_EQ(find_response_id(R"({"jsonrpc":"2.0","id":12,"result":{"con)", "...}}"), Id(12));
  EXPECT_EQ(
      find_response_id(R"({"result":{"content":[{"id":5,)", R"(xx"}]},"jsonrpc":"2.0","id":12})"),
      Id(12));
  EXPECT_EQ(find_response_id(R"({"result":{"id":5,)", R"(x"},"id":"b"})"), Id("b"));
  EXPECT_EQ(find_response_id(R"({"result":{"id":5,)", R"(x","id":5}})"), std::nullopt);
  EXPECT_EQ(find_response_id("", ""), std::nullopt);
}

}  // namespace
}  // namespace errand::rpc::message_test
