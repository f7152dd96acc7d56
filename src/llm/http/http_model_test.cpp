#include "llm/http/http_model.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "async/breath.hpp"
#include "llm/failure.hpp"
#include "net/client/test_peer.hpp"
#include "net/server/test_support.hpp"
#include "support/decode_stream.hpp"
#include "support/manual_clock.hpp"
#include "support/run_task.hpp"

namespace errand::llm::http_model_test {
namespace {

// Each event of the stream is one word: "done" ends it, "call" closes a call, "overloaded" fails
// and asks to wait for 70 ms, and any other word is text. Events named "ping" mean nothing.
class WordDecoder final : public StreamDecoder {
 public:
  explicit WordDecoder(std::vector<std::thread::id>* fed_by) : fed_by_(fed_by) {}

  std::vector<TurnEvent> feed(std::string_view name, std::string_view data) override {
    if (fed_by_) fed_by_->push_back(std::this_thread::get_id());
    std::vector<TurnEvent> out;
    if (name == "ping") return out;
    if (data == "done") {
      out.emplace_back(Finished{.finish_reason = "end_turn", .usage = {}});
    } else if (data == "call") {
      out.emplace_back(CallClosed{.provider_id = "c1", .name = "look", .arguments = "{}"});
    } else if (data == "overloaded") {
      out.emplace_back(Failed{make_failure(error_class::kOverloaded, "in the stream")});
      retry_after_ = milliseconds(70);
    } else {
      out.emplace_back(TextDelta{std::string(data)});
    }
    return out;
  }
  std::vector<TurnEvent> finish() override {
    std::vector<TurnEvent> out;
    out.emplace_back(broken_stream("no end"));
    return out;
  }
  std::optional<milliseconds> retry_after() const override { return retry_after_; }

 private:
  std::vector<std::thread::id>* const fed_by_;
  std::optional<milliseconds> retry_after_;
};

// Sends the bytes of all files as the body, or the word "json" if the answer is to be held to JSON.
class WordProvider final : public Provider {
 public:
  ProviderRequest build(const TurnRequest& request) const override {
    if (built_by) *built_by = std::this_thread::get_id();
    ProviderRequest built{.path = "/ask", .body = request.is_json ? "json" : ""};
    built.holds_to_json = request.is_json;
    if (!request.files) return built;
    for (const auto& [hash, bytes] : request.files->bytes) built.body += bytes.value_or("");
    return built;
  }
  std::unique_ptr<StreamDecoder> make_decoder(const TurnRequest&) const override {
    return std::make_unique<WordDecoder>(fed_by);
  }
  ApiFailure classify(const ApiAnswer& answer) const override {
    return finish_failure(make_failure(class_of_status(answer.status), answer.body, answer.status),
                          answer);
  }
  OutputMechanism output_mechanism(const TurnRequest&) const override {
    return OutputMechanism::plain;
  }
  ProviderProbe probe() const override { return {.path = "/models", .listed_id = listed_id}; }

  std::optional<std::string> listed_id;  // of the probe
  std::thread::id* built_by = nullptr;
  std::vector<std::thread::id>* fed_by = nullptr;  // each event, in order
};

// One answer of the vendor.
struct Scripted {
  int status = 200;
  std::string body;
  std::vector<net::Header> headers = {};
};

Scripted words(std::vector<std::string> words) {
  return {.body = data_frames(words)};
}

Scripted refusal(int status, std::vector<net::Header> headers = {}) {
  return {.status = status, .body = "no", .headers = std::move(headers)};
}

// A vendor on its own thread, and a model that asks it while time stands still. Every pause is
// noted and passes at once.
class HttpModelTest : public testing::Test {
 protected:
  std::unique_ptr<HttpModel> make(HttpModelOptions options,
                                  const std::optional<std::string>& listed_id = {}) {
    if (options.base_url.empty()) options.base_url = cat("http://127.0.0.1:", server_.port());
    auto provider = std::make_unique<WordProvider>();
    provider->listed_id = listed_id;
    provider->built_by = &built_by_;
    provider->fed_by = &fed_by_;
    return std::make_unique<HttpModel>(HttpModel::Deps{.client = client_,
                                                       .timers = timers_,
                                                       .clock = clock_,
                                                       .random = [] { return std::uint64_t{0}; },
                                                       .pool = &pool_},
                                       std::move(provider), std::move(options));
  }

  // What a check makes of this answer.
  Reachability check(Scripted answer, const std::optional<std::string>& listed_id = {}) {
    answers_ = {std::move(answer)};
    auto model = make({}, listed_id);
    return run_task(io_, model->check());
  }

  Lines ask(HttpModelOptions options = {}, TurnRequest request = {}) {
    auto model = make(std::move(options));
    return ask(*model, std::move(request));
  }

  Lines ask(HttpModel& model, TurnRequest request) {
    auto stream = model.ask(std::move(request));
    Lines lines;
    bool is_done = false;
    asio::co_spawn(io_, read(stream.get(), &lines), [&](std::exception_ptr) { is_done = true; });
    run_until(io_, [&] {
      if (timers_.pending() > 0) {
        SteadyTime before = timers_.now();
        if (aborts_in_pause_) stream->abort();
        timers_.fire_next();
        pauses_.push_back((timers_.now() - before) / milliseconds(1));
      }
      return is_done;
    });
    return lines;
  }

  static Task<void> read(TurnStream* stream, Lines* lines) {
    for (bool is_over = false; !is_over;) {
      std::vector<TurnEvent> events = co_await stream->next();
      for (const TurnEvent& event : events) {
        auto* failed = std::get_if<Failed>(&event);
        lines->push_back(line_of(event) + (failed && failed->is_settled ? " (settled)" : ""));
        is_over = failed || std::holds_alternative<Finished>(event);
      }
    }
  }

  static Task<net::Response> answer(HttpModelTest* self, std::string body) {
    ++self->asked_;
    self->bodies_.push_back(std::move(body));
    Scripted next = std::move(self->answers_.front());
    self->answers_.pop_front();
    net::Response response{.status = next.status, .body = std::move(next.body)};
    response.headers = std::move(next.headers);
    co_return response;
  }

  // In order. The test touches them before and after it asks, the vendor in between.
  std::deque<Scripted> answers_;
  std::vector<std::string> bodies_;
  std::atomic<int> asked_ = 0;
  std::vector<std::int64_t> pauses_;  // in milliseconds
  bool aborts_in_pause_ = false;
  std::thread::id built_by_;  // of the last request
  std::vector<std::thread::id> fed_by_;
  ManualClock clock_{0};
  asio::io_context io_{1};
  BlockingPool pool_{1, 10};
  ManualTimers timers_;
  net::HttpClient client_;
  net::test::TestServer server_{
      [this](const net::Request& request) { return answer(this, request.body); }};
};

const Lines kAnswer = {"text Hi", "finished end_turn in 0 cached 0 out 0 reasoning 0"};

TEST_F(HttpModelTest, AQuestionIsAskedAgainWithGrowingPausesUntilItsAnswerBegins) {
  answers_ = {refusal(529), refusal(500), words({"Hi", "done"})};
  EXPECT_EQ(ask(), kAnswer);
  EXPECT_EQ(asked_, 3);
  EXPECT_EQ(pauses_, (std::vector<std::int64_t>{500, 1000}));
}

TEST_F(HttpModelTest, WhoeverAsksIsToldOfEachPause) {
  answers_ = {refusal(529), refusal(529, {{"retry-after", "30"}}), words({"Hi", "done"})};
  std::vector<ModelRetry> told;
  const SteadyTime begin = timers_.now();
  EXPECT_EQ(ask({}, {.on_retry = [&](const ModelRetry& retry) { told.push_back(retry); }}),
            kAnswer);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].why, "no");
  EXPECT_EQ(told[0].until, begin + milliseconds(500));
  EXPECT_EQ(told[1].until, begin + milliseconds(30'500));
}

TEST_F(HttpModelTest, AFailureIsSettledAfterItsRetries) {
  answers_ = {refusal(529), refusal(529), refusal(529)};
  EXPECT_EQ(ask(), Lines{"failed overloaded retryable 529 : no (settled)"});
  EXPECT_EQ(asked_, 3);
}

TEST_F(HttpModelTest, WithoutRetriesTheVendorIsAskedOnce) {
  answers_ = {refusal(529)};
  EXPECT_EQ(ask({.retries = 0}), Lines{"failed overloaded retryable 529 : no (settled)"});
  EXPECT_EQ(asked_, 1);
}

TEST_F(HttpModelTest, WhatAskingAgainCannotHelpIsSettledAtOnce) {
  answers_ = {refusal(401)};
  EXPECT_EQ(ask(), Lines{"failed auth final 401 : no (settled)"});
  EXPECT_EQ(asked_, 1);
}

TEST_F(HttpModelTest, AVendorThatCannotBeReachedIsTriedAsOften) {
  Lines lines = ask({.base_url = "http://127.0.0.1:1"});
  EXPECT_EQ(lines, Lines{"failed server retryable 0 : cannot connect to 127.0.0.1:1: Connection "
                         "refused (settled)"});
  EXPECT_EQ(pauses_, (std::vector<std::int64_t>{500, 1000}));
}

TEST_F(HttpModelTest, AStreamThatFailsBeforeItsFirstEventIsAskedAgain) {
  answers_ = {words({"overloaded"}), words({}), words({"Hi", "done"})};
  EXPECT_EQ(ask(), kAnswer);
  EXPECT_EQ(asked_, 3);
  EXPECT_EQ(pauses_, (std::vector<std::int64_t>{70, 1000}));
}

TEST_F(HttpModelTest, AStreamThatFailsAfterItsFirstEventIsTheAgentsToJudge) {
  answers_ = {words({"Hi", "overloaded"})};
  EXPECT_EQ(ask(), (Lines{"text Hi", "failed overloaded retryable 0 : in the stream"}));
  answers_ = {words({"call"})};
  EXPECT_EQ(ask(), (Lines{"call c1|look|{}", "failed server retryable 0 : no end"}));
  EXPECT_EQ(asked_, 2);
}

using Bodies = std::vector<std::string>;

TEST_F(HttpModelTest, AServerThatLacksTheFormatOfJsonIsAskedWithoutIt) {
  for (const Scripted& no :
       {refusal(400), Scripted{.status = 500, .body = "bad response_format"}}) {
    bodies_.clear();
    answers_ = {no, words({"Hi", "done"}), words({"Hi", "done"})};
    auto model = make({.retries = 0});
    EXPECT_EQ(ask(*model, {.is_json = true}), kAnswer);
    EXPECT_EQ(ask(*model, {.is_json = true}), kAnswer);
    EXPECT_EQ(bodies_, (Bodies{"json", "", ""})) << "the model remembers";
  }
  EXPECT_TRUE(pauses_.empty());
}

TEST_F(HttpModelTest, AQuestionThatIsRefusedInEveryFormSaysNothingAboutTheFormat) {
  answers_ = {refusal(400), refusal(400), words({"Hi", "done"})};
  auto model = make({});
  EXPECT_EQ(ask(*model, {.is_json = true}),
            Lines{"failed invalid_request final 400 : no (settled)"});
  EXPECT_EQ(ask(*model, {.is_json = true}), kAnswer);
  EXPECT_EQ(bodies_, (Bodies{"json", "", "json"}));
}

TEST_F(HttpModelTest, AFormatOfJsonBringsNoRetryOfItsOwn) {
  answers_ = {refusal(529)};
  EXPECT_EQ(ask({.retries = 0}, {.is_json = true}),
            Lines{"failed overloaded retryable 529 : no (settled)"});
  EXPECT_EQ(asked_, 1);
}

TEST_F(HttpModelTest, AServerThatBreaksOverAFormatIsNotTriedAgain) {
  answers_ = {{.status = 500, .body = "('body', 'response_format', 'type')"}};
  EXPECT_EQ(ask(), Lines{"failed server retryable 500 : ('body', 'response_format', 'type') "
                         "(settled)"});
  EXPECT_EQ(asked_, 1);
}

TurnRequest request_with_bytes(std::string bytes) {
  TurnFiles files;
  files.bytes["hash"] = std::move(bytes);
  return {.files = std::make_shared<const TurnFiles>(std::move(files))};
}

TEST_F(HttpModelTest, EveryAttemptSendsTheFiles) {
  answers_ = {refusal(529), words({"overloaded"}), words({"Hi", "done"})};
  EXPECT_EQ(ask({}, request_with_bytes("bytes")), kAnswer);
  EXPECT_EQ(bodies_, (std::vector<std::string>(3, "bytes")));
}

TEST_F(HttpModelTest, AShortRequestIsBuiltAtHomeAndALongOneOnThePool) {
  answers_ = {words({"Hi", "done"}), words({"Hi", "done"})};
  EXPECT_EQ(ask({}, request_with_bytes("bytes")), kAnswer);
  EXPECT_EQ(built_by_, std::this_thread::get_id());
  const std::string long_file(kBytesInABreath + 1, 'x');
  EXPECT_EQ(ask({}, request_with_bytes(long_file)), kAnswer);
  EXPECT_NE(built_by_, std::this_thread::get_id());
  EXPECT_EQ(bodies_.back(), long_file);
}

TEST_F(HttpModelTest, ALongEventIsDecodedOnThePoolInItsPlace) {
  const std::string long_word(kBytesInABreath + 1, 'x');
  answers_ = {words({"Hi", long_word, "there", "done"})};
  EXPECT_EQ(ask(), (Lines{"text Hi", "text " + long_word, "text there", kAnswer.back()}));
  const std::thread::id here = std::this_thread::get_id();
  ASSERT_EQ(fed_by_.size(), 4U);
  EXPECT_EQ(fed_by_[0], here);
  EXPECT_NE(fed_by_[1], here);
  EXPECT_EQ(fed_by_[2], here);
}

TEST_F(HttpModelTest, FileBytesAreHeldUntilTheAnswerBegins) {
  answers_ = {words({"Hi", "done"})};
  auto model = make({});
  TurnRequest request = request_with_bytes("bytes");
  std::weak_ptr<const TurnFiles> files = request.files;
  auto stream = model->ask(std::move(request));
  EXPECT_FALSE(files.expired());
  run_task(io_, stream->next());
  EXPECT_TRUE(files.expired());
}

TEST_F(HttpModelTest, TheLastAttemptHoldsNoFileBytesWhileItWaits) {
  std::weak_ptr<const TurnFiles> files;
  std::atomic<bool> is_held = true;
  net::test::Peer vendor([&](net::test::PeerConnection& connection) {
    connection.receive_head();
    is_held = !files.expired();
  });
  auto model = make({.base_url = cat("http://127.0.0.1:", vendor.port()), .retries = 0});
  TurnRequest request = request_with_bytes("bytes");
  files = request.files;
  auto stream = model->ask(std::move(request));
  run_task(io_, stream->next());
  EXPECT_FALSE(is_held);
}

TEST_F(HttpModelTest, ThePauseIsTheOneTheVendorNames) {
  clock_.set(784'111'777'000);  // Sun, 06 Nov 1994 08:49:37 GMT
  const std::vector<std::pair<std::vector<net::Header>, std::int64_t>> cases = {
      {{{"retry-after-ms", "12.5"}, {"retry-after", "9"}}, 13},
      {{{"retry-after", "2"}}, 2000},
      {{{"retry-after", "0"}}, 0},
      {{{"retry-after", "Sun, 06 Nov 1994 08:49:40 GMT"}}, 3000},
      {{{"retry-after", "Sunday, 06-Nov-94 08:49:40 GMT"}}, 3000},
      {{{"retry-after", "Sun Nov  6 08:49:40 1994"}}, 3000},
      {{{"retry-after", "Sun, 06 Nov 1994 08:49:30 GMT"}}, 500},
      {{{"retry-after", "-3"}}, 500},
      {{{"retry-after", "soon"}}, 500},
  };
  for (const auto& [headers, pause] : cases) {
    pauses_.clear();
    answers_ = {refusal(429, headers), words({"Hi", "done"})};
    EXPECT_EQ(ask(), kAnswer);
    EXPECT_EQ(pauses_, std::vector<std::int64_t>{pause}) << headers.back().value;
  }
}

TEST_F(HttpModelTest, AVendorThatWantsALongPauseIsNotWaitedFor) {
  answers_ = {refusal(429, {{"retry-after", "61"}})};
  EXPECT_EQ(ask(), Lines{"failed rate_limit retryable 429 : no (settled)"});
  EXPECT_EQ(asked_, 1);
}

TEST_F(HttpModelTest, AllAttemptsAndPausesShareOneDeadline) {
  answers_ = {refusal(529), refusal(529)};
  EXPECT_EQ(ask({.timeouts = {.total = milliseconds(1200)}, .retries = 10}),
            Lines{"failed overloaded retryable 529 : no (settled)"});
  EXPECT_EQ(asked_, 2);
  EXPECT_EQ(pauses_, std::vector<std::int64_t>{500});
}

TEST_F(HttpModelTest, PingsAndCommentsAreNoSilenceAndTheDeadlineEndsThem) {
  for (std::string_view ping : {": ping\n\n", "event: ping\ndata: {}\n\n"}) {
    net::test::Peer vendor([&](net::test::PeerConnection& connection) {
      connection.receive_head();
      connection.send("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n");
      while (connection.send(ping)) std::this_thread::yield();
    });
    HttpModelOptions options{.base_url = cat("http://127.0.0.1:", vendor.port()), .retries = 0};
    options.timeouts = {.idle = milliseconds(1000), .total = milliseconds(1200)};
    EXPECT_EQ(ask(options), Lines{cat("failed timeout retryable 0 : the total timeout of 1200 ms "
                                      "for 127.0.0.1:",
                                      vendor.port(), " passed (settled)")});
  }
}

TEST_F(HttpModelTest, AnAbortEndsAPause) {
  answers_ = {refusal(529)};
  aborts_in_pause_ = true;
  EXPECT_EQ(ask(), Lines{"failed server retryable 0 : the stream of the model was closed"});
  EXPECT_EQ(asked_, 1);
}

using State = Reachability::State;

TEST_F(HttpModelTest, ACheckTellsAGoodKeyFromAWrongOne) {
  EXPECT_EQ(check({.status = 200, .body = "{}"}), Reachability{});
  EXPECT_EQ(check(refusal(401)), (Reachability{State::wrong_key, "no"}));
  EXPECT_EQ(check(refusal(403)), (Reachability{State::wrong_key, "no"}));
  EXPECT_EQ(check(refusal(500)), (Reachability{State::unreachable, "no"}));
}

TEST_F(HttpModelTest, ACheckFindsAModelThatTheVendorDoesNotHave) {
  std::string list = R"({"data":[{"id":"a"},{"id":"b:latest"},7]})";
  EXPECT_EQ(check({.body = list}, "a"), Reachability{});
  EXPECT_EQ(check({.body = list}, "b"), Reachability{});
  EXPECT_EQ(check({.body = list}, ""), Reachability{});
  EXPECT_EQ(check({.body = list}, "c"),
            (Reachability{State::no_such_model, "the server does not list it"}));
  EXPECT_EQ(check(refusal(404)),
            (Reachability{State::no_such_model, "the vendor does not have this model"}));
  EXPECT_EQ(
      check(refusal(404), "a"),
      (Reachability{State::unreachable, "there is no list of models; is the baseUrl right?"}));
}

TEST_F(HttpModelTest, ACheckSaysThatNobodyIsThere) {
  auto model = make({.base_url = "http://127.0.0.1:1"});
  EXPECT_EQ(
      run_task(io_, model->check()),
      (Reachability{State::unreachable, "cannot connect to 127.0.0.1:1: Connection refused"}));
}

}  // namespace
}  // namespace errand::llm::http_model_test
