#include "cli/chat/conversation.hpp"

#include <gtest/gtest.h>

namespace errand::cli::conversation_test {
namespace {

using Kind = Saying::Kind;

const ToolUseId kCall = *ToolUseId::parse("a");

CreatedEntry created(std::string prompt) {
  CreatedEntry entry;
  entry.spec.prompt = std::move(prompt);
  return entry;
}

TEST(Conversation, HasTheTurnsOfAllRunsItGoesOnFrom) {
  EXPECT_EQ(sayings_of({created("Look."), TurnEntry{.turn = 0},
                        CallEntry{.id = kCall, .name = "read", .arguments = "{}", .text = "Wait."},
                        TurnEndEntry{.text = ""}, OutcomeEntry{.id = kCall, .text = "one"},
                        TurnEntry{.turn = 1}, TurnEndEntry{.text = "It is one."},
                        TurnEntry{.turn = 2, .prompt = "Thanks."}, TurnEndEntry{.text = "Gladly."},
                        TerminalEntry()}),
            (std::vector<Saying>{{Kind::user, "Look."},
                                 {Kind::model, "Wait."},
                                 {Kind::call, "{}", "read"},
                                 {Kind::result, "one", "read"},
                                 {Kind::model, "It is one."},
                                 {Kind::user, "Thanks."},
                                 {Kind::model, "Gladly."}}));
}

TEST(Conversation, ATurnThatWasAskedAgainCountsOnce) {
  EXPECT_EQ(sayings_of({created("Look."), TurnEntry{.turn = 0},
                        CallEntry{.id = kCall, .name = "read", .arguments = "{}"},
                        TurnEntry{.turn = 0, .attempt = 2}, TurnEndEntry{.text = "No."}}),
            (std::vector<Saying>{{Kind::user, "Look."}, {Kind::model, "No."}}));
}

TEST(Conversation, ACallThatFailedSaysSo) {
  EXPECT_EQ(sayings_of({CallEntry{.id = kCall, .name = "read"},
                        OutcomeEntry{.id = kCall, .ok = false, .text = "gone"}}),
            (std::vector<Saying>{{Kind::call, "", "read"}, {Kind::failure, "gone", "read"}}));
}

TEST(Conversation, IsADocumentWhoseFencesHold) {
  std::vector<Saying> sayings{{Kind::user, "Look."},
                              {Kind::call, R"({"path":"a"})", "read"},
                              {Kind::result, "```\n", "read"},
                              {Kind::failure, "", "find"},
                              {Kind::model, "Done."}};
  EXPECT_EQ(
      to_markdown("Chat 1", sayings),
      "# Chat 1\n\n## You\n\nLook.\n\n## Model\n\nCalls read:\n\n```\n{\"path\":\"a\"}\n```\n\n"
      "read gives:\n\n````\n```\n````\n\nfind fails:\n\n```\n```\n\nDone.\n");
}

}  // namespace
}  // namespace errand::cli::conversation_test
