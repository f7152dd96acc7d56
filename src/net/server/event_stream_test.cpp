#include <gtest/gtest.h>

#include <string>

#include "net/server/http_server.hpp"
#include "net/server/test_support.hpp"

namespace errand::net::test::event_stream_test {
namespace {

Task<Response> answer_events(std::shared_ptr<FeedSource> source) {
  Response response;
  response.headers.push_back({.name = "X-Run", .value = "r1"});
  response.events = std::make_unique<TestFeed>(std::move(source));
  co_return response;
}

Task<Response> answer_text(std::string text) {
  Response response;
  response.body = std::move(text);
  co_return response;
}

constexpr std::size_t kLargeBytes = 32U * 1024 * 1024;

class EventStream : public testing::Test {
 protected:
  void start(ServerLimits limits = {}) {
    server_ = std::make_unique<TestServer>(
        [this](Request request) {
          if (request.path == "/events") return answer_events(source_);
          if (request.path == "/large") return answer_text(std::string(kLargeBytes, 'x'));
          return answer_text(request.path);
        },
        limits);
    source_ = server_->loop().call(
        [this] { return std::make_shared<FeedSource>(server_->loop().home().executor()); });
  }
  void TearDown() override {
    server_->loop().call([this] { source_.reset(); });
    server_.reset();
  }

  void on_home(const std::function<void(FeedSource&)>& work) {
    server_->loop().call([&] { work(*source_); });
  }
  RawResponse open(RawClient& client) {
    client.send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
    return client.receive_response();
  }

  std::unique_ptr<TestServer> server_;
  std::shared_ptr<FeedSource> source_;
};

TEST_F(EventStream, BeginsWithItsHeadEvenIfNothingIsReady) {
  start();
  RawClient client(server_->port());
  RawResponse response = open(client);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.header("Content-Type"), "text/event-stream; charset=utf-8");
  EXPECT_EQ(response.header("Cache-Control"), "no-cache, no-transform");
  EXPECT_EQ(response.header("X-Accel-Buffering"), "no");
  EXPECT_EQ(response.header("Transfer-Encoding"), "chunked");
  EXPECT_EQ(response.header("Content-Length"), "");
  EXPECT_EQ(response.header("X-Run"), "r1");
  EXPECT_EQ(server_->counts().event_streams, 1U);
}

TEST_F(EventStream, GathersWhatIsReadyIntoOneChunk) {
  start();
  on_home([](FeedSource& source) {
    source.push("data: 1\n\n");
    source.push("data: 2\n\n");
  });
  RawClient client(server_->port());
  open(client);
  EXPECT_EQ(client.receive_chunk(), "data: 1\n\ndata: 2\n\n");
  on_home([](FeedSource& source) {
    source.push("data: 3\n\n");
    source.push("data: 4\n\n");
  });
  EXPECT_EQ(client.receive_chunk(), "data: 3\n\ndata: 4\n\n");
}

TEST_F(EventStream, SendsAKeepAliveCommentWhenSilent) {
  start({.keep_alive_every = milliseconds(20)});
  RawClient client(server_->port());
  open(client);
  EXPECT_EQ(client.receive_chunk(), ": keep-alive\n\n");
  EXPECT_EQ(client.receive_chunk(), ": keep-alive\n\n");
  on_home([](FeedSource& source) { source.push("data: 1\n\n"); });
  EXPECT_NE(client.receive_through("data: 1\n\n\r\n"), "");
}

TEST_F(EventStream, EndsCleanlyAndTheConnectionGoesOn) {
  start();
  RawClient client(server_->port());
  open(client);
  on_home([](FeedSource& source) {
    source.push("data: last\n\n");
    source.finish(EventFeed::State::ended);
  });
  EXPECT_EQ(client.receive_exactly(22), "c\r\ndata: last\n\n\r\n0\r\n\r\n");
  EXPECT_EQ(client.ask("GET /next HTTP/1.1\r\nHost: x\r\n\r\n").body, "/next");
  EXPECT_EQ(server_->counts().event_streams, 0U);
}

TEST_F(EventStream, AnEmptyStreamIsAnEmptyBody) {
  start();
  on_home([](FeedSource& source) { source.finish(EventFeed::State::ended); });
  RawClient client(server_->port());
  open(client);
  EXPECT_EQ(client.receive_exactly(5), "0\r\n\r\n");
}

TEST_F(EventStream, ARequestPipelinedBehindItIsAnsweredAfterItsEnd) {
  start();
  RawClient client(server_->port());
  client.send("GET /events HTTP/1.1\r\nHost: x\r\n\r\nGET /behind HTTP/1.1\r\nHost: x\r\n\r\n");
  client.receive_response();
  on_home([](FeedSource& source) { source.finish(EventFeed::State::ended); });
  EXPECT_EQ(client.receive_exactly(5), "0\r\n\r\n");
  EXPECT_EQ(client.receive_response().body, "/behind");
}

TEST_F(EventStream, AnswersHeadWithoutAStream) {
  start();
  RawClient client(server_->port());
  client.send("HEAD /events HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.receive_response(Method::head).header("Content-Type"),
            "text/event-stream; charset=utf-8");
  EXPECT_EQ(client.ask("GET /next HTTP/1.1\r\nHost: x\r\n\r\n").body, "/next");
}

TEST_F(EventStream, IsNotChunkedForHttp10) {
  start();
  RawClient client(server_->port());
  client.send("GET /events HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  RawResponse response = client.receive_response();
  EXPECT_EQ(response.header("Transfer-Encoding"), "");
  EXPECT_EQ(response.header("Connection"), "close");
  on_home([](FeedSource& source) {
    source.push("data: 1\n\n");
    source.finish(EventFeed::State::ended);
  });
  EXPECT_EQ(client.receive_all(), "data: 1\n\n");
  EXPECT_EQ(client.end(), End::closed);
}

TEST_F(EventStream, AClientThatLeavesInterruptsTheFeedThoughNothingIsSent) {
  start({.keep_alive_every = std::chrono::hours(1)});
  RawClient client(server_->port());
  open(client);
  client.close();
  ASSERT_EQ(source_->interrupted.get_future().wait_for(seconds(20)), std::future_status::ready);
  server_->wait_for([](const auto& counts) { return counts.connections == 0; });
}

TEST_F(EventStream, ABrokenFeedResetsTheConnection) {
  start();
  RawClient client(server_->port());
  open(client);
  on_home([](FeedSource& source) { source.finish(EventFeed::State::broken); });
  EXPECT_EQ(client.receive_all(), "");
  EXPECT_EQ(client.end(), End::reset);
}

TEST_F(EventStream, AReaderThatTakesNothingIsReset) {
  start({.write_timeout = milliseconds(50)});
  RawClient client(server_->port(), 4096);
  open(client);
  on_home([](FeedSource& source) { source.push(std::string(32U * 1024 * 1024, 'x')); });
  server_->wait_for([](const auto& counts) { return counts.connections == 0; });
  client.receive_all();
  EXPECT_EQ(client.end(), End::reset);
}

TEST_F(EventStream, ACutReachesAReaderThatTakesNothing) {
  start({.write_timeout = std::chrono::hours(1)});
  RawClient client(server_->port(), 4096);
  open(client);
  on_home([](FeedSource& source) { source.push(std::string(32U * 1024 * 1024, 'x')); });
  on_home([](FeedSource& source) { source.reset(); });
  server_->wait_for([](const auto& counts) { return counts.connections == 0; });
  client.receive_all();
  EXPECT_EQ(client.end(), End::reset);
}

// Streams and other answers share the limit.
TEST_F(EventStream, TheClientThatTookNothingForTheLongestMakesRoomForOthers) {
  start({.unsent_bytes_max = std::size_t{1024} * 1024, .write_timeout = std::chrono::hours(1)});
  RawClient first(server_->port(), 4096);
  open(first);
  on_home([](FeedSource& source) { source.push(std::string(kLargeBytes, 'x')); });
  server_->wait_for([](const auto& counts) { return counts.unsent_bytes > 1024U * 1024; });
  EXPECT_EQ(server_->counts().connections, 1U) << "alone it may have more";

  RawClient second(server_->port(), 4096);
  second.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
  server_->wait_for([](const auto& counts) { return counts.event_streams == 0; });
  first.receive_all();
  EXPECT_EQ(first.end(), End::reset);
  EXPECT_EQ(second.receive_response().body.size(), kLargeBytes);
  server_->wait_for([](const auto& counts) { return counts.unsent_bytes == 0; });
}

TEST_F(EventStream, StoppingTheServerResetsItAndNeverEndsItCleanly) {
  start();
  RawClient client(server_->port());
  open(client);
  server_->stop(soon());
  EXPECT_EQ(client.receive_all(), "");
  EXPECT_EQ(client.end(), End::reset);
}

}  // namespace
}  // namespace errand::net::test::event_stream_test
