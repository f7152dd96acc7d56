#include "llm/played_model.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "support/held_pool.hpp"
#include "support/run_task.hpp"

namespace errand::llm::played_model_test {
namespace {

struct PlayedModelTest : testing::Test {
  void begin_to_read() {
    asio::co_spawn(io, read(stream.get(), &events), asio::detached);
    run_ready(io);
  }
  static Task<void> read(TurnStream* stream, std::vector<TurnEvent>* events) {
    *events = co_await stream->next();
  }

  asio::io_context io{1};
  ManualTimers timers;
  HeldPool pool;
  PlayedModel model{[](const TurnRequest&, std::size_t number) {
                      return ScriptedTurn{.text = {cat("turn ", number)}};
                    },
                    OutputMechanism::plain, timers, io.get_executor(), pool.get()};
  std::unique_ptr<TurnStream> stream = model.ask({});
  std::vector<TurnEvent> events;
};

TEST_F(PlayedModelTest, ATurnIsChosenOnThePool) {
  begin_to_read();
  EXPECT_TRUE(events.empty());
  pool.finish();
  run_ready(io);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(std::get<TextDelta>(events[0]).text, "turn 0");
}

TEST_F(PlayedModelTest, AStreamThatIsClosedBeforeThatPlaysNothing) {
  begin_to_read();
  stream->abort();
  pool.finish();
  run_ready(io);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(std::get<Failed>(events[0]).failure.message, "the stream of the model was closed");
}

TEST_F(PlayedModelTest, ALongTextIsNotCopied) {
  const char* made = nullptr;
  PlayedModel moving(
      [&made](const TurnRequest&, std::size_t) {
        ScriptedTurn turn{.text = {std::string(1000, 'x')}};
        made = turn.text[0].data();
        return turn;
      },
      OutputMechanism::plain, timers, io.get_executor());
  stream = moving.ask({});
  begin_to_read();
  EXPECT_EQ(std::get<TextDelta>(events.at(0)).text.data(), made);
}

}  // namespace
}  // namespace errand::llm::played_model_test
