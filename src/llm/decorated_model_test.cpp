// Models made of other models: held calls, images in words, and fallback models.
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <cstdio>

#include "llm/failure.hpp"
#include "llm/fallback_model.hpp"
#include "llm/held_calls.hpp"
#include "llm/no_images.hpp"
#include "support/decode_stream.hpp"
#include "support/manual_clock.hpp"
#include "support/run_task.hpp"

namespace errand::llm::decorated_model_test {
namespace {

// Returns these events, all at once, and then that the stream is closed.
class SaidTurn final : public TurnStream {
 public:
  explicit SaidTurn(std::vector<TurnEvent> events) : events_(std::move(events)) {}

  Task<std::vector<TurnEvent>> next() override {
    std::vector<TurnEvent> out = std::exchange(events_, {});
    if (out.empty() || is_aborted_) out = {broken_stream("closed")};
    co_return out;
  }
  void abort() override { is_aborted_ = true; }

 private:
  std::vector<TurnEvent> events_;
  bool is_aborted_ = false;
};

class SaidModel final : public Model {
 public:
  explicit SaidModel(std::vector<TurnEvent> events,
                     OutputMechanism mechanism = OutputMechanism::plain)
      : events_(std::move(events)), mechanism_(mechanism) {}

  OutputMechanism output_mechanism(const TurnRequest&) const override { return mechanism_; }
  std::unique_ptr<TurnStream> ask(TurnRequest request) override {
    ++asked;
    files = request.files.get();
    messages = request.messages;
    message = messages.empty() ? nullptr : messages.front().get();
    return std::make_unique<SaidTurn>(events_);
  }
  int asked = 0;
  // Where the parts of the last request are.
  const TurnFiles* files = nullptr;
  const Message* message = nullptr;
  MessageList messages;

 private:
  const std::vector<TurnEvent> events_;
  const OutputMechanism mechanism_;
};

TurnEvent text(std::string text) {
  return TextDelta{std::move(text)};
}
TurnEvent block(std::string json) {
  return BlockClosed{std::move(json)};
}
TurnEvent call(std::string name) {
  return CallClosed{.provider_id = "p", .name = std::move(name), .arguments = "{}"};
}
TurnEvent finished() {
  return Finished{.finish_reason = "tool_use", .usage = {}};
}
TurnEvent failed(std::string_view error_class, std::string_view message = "no") {
  return Failed{.failure = make_failure(error_class, message), .is_settled = true};
}

const std::string kFinished = "finished tool_use in 0 cached 0 out 0 reasoning 0";

Task<Lines> read(TurnStream* stream) {
  Lines lines;
  for (bool is_over = false; !is_over;) {
    std::vector<TurnEvent> events = co_await stream->next();
    add_lines(lines, events);
    is_over = std::holds_alternative<Failed>(events.back()) ||
              std::holds_alternative<Finished>(events.back());
  }
  co_return lines;
}

Lines answer_of(Model& model, TurnRequest request = {}) {
  asio::io_context io(1);
  auto stream = model.ask(std::move(request));
  return run_task(io, read(stream.get()));
}

Lines held(std::vector<TurnEvent> events) {
  HeldCallsModel model(std::make_unique<SaidModel>(std::move(events)));
  return answer_of(model);
}

TEST(HeldCalls, CallsAndBlocksComeInOrderWhenTheTurnHasFinished) {
  EXPECT_EQ(
      held({text("a"), block("1"), call("x"), text("b"), block("2"), call("y"), finished()}),
      (Lines{"text a", "text b", "block 1", "call p|x|{}", "block 2", "call p|y|{}", kFinished}));
}

FilePart file_of_type(std::string name, std::string type) {
  return {.filename = std::move(name), .mime_type = std::move(type), .sha256 = "ab", .size = 3};
}

TEST(NoImages, ImagesOfMessagesAndResultsAreToldInWords) {
  Message said{.text = "Look."};
  said.files = {file_of_type("a.png", "image/png"), file_of_type("b.pdf", "application/pdf")};
  Message results;
  results.results.push_back({.name = "plot", .files = {file_of_type("c.svg", "image/svg+xml")}});
  Message plain{.text = "And?"};
  auto inner = std::make_unique<SaidModel>(std::vector<TurnEvent>());
  const SaidModel& asked = *inner;
  NoImagesModel model(std::move(inner));
  const std::vector<MessagePtr> messages = share_messages({said, results, plain});
  auto stream = model.ask({.messages = messages});
  ASSERT_EQ(asked.messages.size(), 3U);
  EXPECT_EQ(asked.messages[0]->text,
            "Look.\n[The file \"a.png\" (image/png, 3 bytes) is not shown: this model does not see "
            "images.]");
  ASSERT_EQ(asked.messages[0]->files.size(), 1U);
  EXPECT_EQ(asked.messages[0]->files[0].filename, "b.pdf");
  EXPECT_EQ(asked.messages[1]->results[0].text,
            "[The file \"c.svg\" (image/svg+xml, 3 bytes) is not shown: this model does not see "
            "images.]");
  EXPECT_TRUE(asked.messages[1]->results[0].files.empty());
  EXPECT_EQ(asked.messages[2], messages[2]) << "what has no images is shared";
  EXPECT_EQ(messages[0]->files.size(), 2U) << "the run's own messages stay as they are";
}

TEST(HeldCalls, ATurnThatBreaksHasNoCalls) {
  EXPECT_EQ(held({text("a"), block("1"), call("x"), failed(error_class::kServer)}),
            (Lines{"text a", "failed server retryable 0 : no"}));
}

TurnRequest request_with_schema() {
  TurnRequest request = any_request();
  request.output_schema = std::make_shared<const json::Object>();
  return request;
}

TurnRequest request_with_bytes(std::string bytes) {
  TurnFiles files;
  files.bytes["hash"] = std::move(bytes);
  return {.messages = share_messages({{.role = Role::user, .text = "Look"}}),
          .files = std::make_shared<const TurnFiles>(std::move(files))};
}

TurnEvent refused() {
  return Failed{.failure = make_failure(error_class::kInvalidRequest, "no", 400)};
}

class FallbackTest : public testing::Test {
 protected:
  FallbackTest() : file_(std::tmpfile()), log_(clock_, ::fileno(file_), LogFormat::json) {}
  ~FallbackTest() override { std::fclose(file_); }

  // A model for each list of events: the first one, and its fallback models.
  FallbackModel make(std::vector<std::vector<TurnEvent>> said,
                     OutputMechanism of_others = OutputMechanism::plain) {
    models_.clear();
    std::vector<NamedModel> named;
    for (auto& events : said) {
      auto mechanism = named.empty() ? OutputMechanism::plain : of_others;
      models_.push_back(std::make_shared<SaidModel>(std::move(events), mechanism));
      named.push_back(
          {.info = {.id = cat("m", models_.size()), .provider = "", .vendor_model_id = ""},
           .model = models_.back()});
    }
    return {std::move(named), log_};
  }
  Lines answer(std::vector<std::vector<TurnEvent>> said) {
    FallbackModel model = make(std::move(said));
    return answer_of(model);
  }
  // Whether the first model's failure says that the second model rejected the schema.
  bool refuses_schema(TurnEvent second, OutputMechanism of_second) {
    FallbackModel model =
        make({{failed(error_class::kOverloaded)}, {std::move(second)}}, of_second);
    asio::io_context io(1);
    auto stream = model.ask(request_with_schema());
    std::vector<TurnEvent> events = run_task(io, stream->next());
    const auto& failure = std::get<Failed>(events.front());
    EXPECT_EQ(failure.failure.error_class, error_class::kOverloaded);
    return failure.refuses_schema;
  }
  std::vector<int> asked() const {
    std::vector<int> out;
    for (const auto& model : models_) out.push_back(model->asked);
    return out;
  }
  std::string logged() const {
    std::string out(4096, '\0');
    auto count = ::pread(::fileno(file_), out.data(), out.size(), 0);
    out.resize(static_cast<std::size_t>(count));
    return out;
  }

  ManualClock clock_;
  std::FILE* file_;
  Log log_;
  std::vector<std::shared_ptr<SaidModel>> models_;
};

TEST_F(FallbackTest, TheNextModelIsAskedWhenNothingOfAnAnswerCame) {
  EXPECT_EQ(answer({{failed(error_class::kOverloaded)},
                    {failed(error_class::kTimeout)},
                    {text("hi"), finished()}}),
            (Lines{"answered by m3 none", "text hi", kFinished}));
  EXPECT_EQ(asked(), (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(logged(), R"({"at":"1970-01-01T00:00:00.000Z","level":"warning",)"
                      R"("message":"a model gave no answer; asking the next fallback model",)"
                      R"("model":"m1","next":"m2","errorClass":"overloaded","error":"no"})"
                      "\n"
                      R"({"at":"1970-01-01T00:00:00.000Z","level":"warning",)"
                      R"("message":"a model gave no answer; asking the next fallback model",)"
                      R"("model":"m2","next":"m3","errorClass":"timeout","error":"no"})"
                      "\n");
}

TEST_F(FallbackTest, AnAnswerThatBeganIsNeverAnsweredByAnother) {
  EXPECT_EQ(answer({{text("a"), failed(error_class::kServer)}, {text("hi"), finished()}}),
            (Lines{"text a", "failed server retryable 0 : no"}));
  EXPECT_EQ(asked(), (std::vector<int>{1, 0}));
}

TEST_F(FallbackTest, OnlyWhatAnotherModelCanHelpWithIsPassedOn) {
  for (auto error_class : {error_class::kRateLimit, error_class::kOverloaded, error_class::kServer,
                           error_class::kTimeout, error_class::kQuota, error_class::kAuth}) {
    EXPECT_EQ(answer({{failed(error_class)}, {finished()}}),
              (Lines{"answered by m2 none", kFinished}))
        << error_class;
  }
  for (auto error_class : {error_class::kContextWindow, error_class::kRefusal,
                           error_class::kContentFilter, error_class::kInvalidRequest}) {
    EXPECT_EQ(answer({{failed(error_class)}, {finished()}}),
              Lines{cat("failed ", error_class, " final 0 : no")});
  }
}

TEST_F(FallbackTest, WithoutAnyAnswerTheFailureIsTheFirstOnes) {
  EXPECT_EQ(answer({{failed(error_class::kOverloaded, "busy")}, {failed(error_class::kAuth)}}),
            Lines{"failed overloaded retryable 0 : busy"});
}

TEST_F(FallbackTest, AnAnswerOfTheFirstSaysNothingOfModels) {
  EXPECT_EQ(answer({{text("a"), finished()}, {finished()}}), (Lines{"text a", kFinished}));
}

TEST_F(FallbackTest, AnAnswerOfAnotherSaysHowThatOneFollowsTheSchema) {
  auto mechanism = OutputMechanism::answer_tool;
  FallbackModel model = make({{failed(error_class::kServer)}, {finished()}}, mechanism);
  EXPECT_EQ(answer_of(model, request_with_schema()),
            (Lines{"answered by m2 synthetic_tool", kFinished}));
  EXPECT_EQ(answer_of(model), (Lines{"answered by m2 none", kFinished}));
}

TEST_F(FallbackTest, ASchemaThatAnotherWillNotHaveIsToldWithTheFirstFailure) {
  EXPECT_TRUE(refuses_schema(refused(), OutputMechanism::native));
  EXPECT_FALSE(refuses_schema(refused(), OutputMechanism::plain));
  EXPECT_FALSE(refuses_schema(failed(error_class::kServer), OutputMechanism::native));
}

TEST_F(FallbackTest, FileBytesAreHeldUntilAnAnswerBegins) {
  FallbackModel model = make({{failed(error_class::kServer)}, {text("a")}, {finished()}});
  TurnRequest request = request_with_bytes("bytes");
  std::weak_ptr<const TurnFiles> files = request.files;
  asio::io_context io(1);
  auto stream = model.ask(std::move(request));
  EXPECT_FALSE(files.expired());
  Lines lines;
  add_lines(lines, run_task(io, stream->next()));
  EXPECT_EQ(lines, (Lines{"answered by m2 none", "text a"}));
  EXPECT_TRUE(files.expired());
}

TEST_F(FallbackTest, FileBytesAreNotHeldForAModelThatIsNeverAsked) {
  FallbackModel model = make({{failed(error_class::kInvalidRequest)}, {finished()}});
  TurnRequest request = request_with_bytes("bytes");
  std::weak_ptr<const TurnFiles> files = request.files;
  asio::io_context io(1);
  auto stream = model.ask(std::move(request));
  run_task(io, stream->next());
  EXPECT_TRUE(files.expired());
}

TEST_F(FallbackTest, TheLastModelTakesTheRequestWithIt) {
  FallbackModel model = make({{text("a"), finished()}});
  TurnRequest request = request_with_bytes("bytes");
  std::weak_ptr<const TurnFiles> files = request.files;
  auto stream = model.ask(std::move(request));
  EXPECT_TRUE(files.expired());
}

TEST_F(FallbackTest, EveryModelGetsTheSameBytesAndMessages) {
  FallbackModel model = make({{failed(error_class::kServer)}, {finished()}});
  TurnRequest request = request_with_bytes(std::string(20U * 1024 * 1024, 'x'));
  const TurnFiles* files = request.files.get();
  const Message* message = request.messages.front().get();
  answer_of(model, std::move(request));
  for (const auto& asked : models_) {
    EXPECT_EQ(asked->files, files);
    EXPECT_EQ(asked->message, message);
  }
}

}  // namespace
}  // namespace errand::llm::decorated_model_test
