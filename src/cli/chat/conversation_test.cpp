#include "cli/chat/conversation.hpp"

#include <gtest/gtest.h>

#include "json/parse.hpp"

namespace errand::cli {
namespace {

using Kind = Saying::Kind;

std::vector<Saying> read(std::initializer_list<std::string_view> entries) {
  std::vector<json::Value> journal;
  for (std::string_view entry : entries) journal.push_back(*json::parse(entry));
  return sayings_of(journal);
}

TEST(Conversation, HasTheTurnsOfAllRunsItGoesOnFrom) {
  EXPECT_EQ(
      read({R"({"entry":"created","spec":{"prompt":"Look."}})", R"({"entry":"turn","turn":0})",
            R"({"entry":"call","id":"a","name":"read","arguments":"{}","text":"Wait."})",
            R"({"entry":"turn_end","text":""})",
            R"({"entry":"outcome","id":"a","ok":true,"text":"one"})",
            R"({"entry":"turn","turn":1})", R"({"entry":"turn_end","text":"It is one."})",
            R"({"entry":"turn","turn":2,"prompt":"Thanks."})",
            R"({"entry":"turn_end","text":"Gladly."})"}),
      (std::vector<Saying>{{Kind::user, "Look."},
                           {Kind::model, "Wait."},
                           {Kind::call, "{}", "read"},
                           {Kind::result, "one", "read"},
                           {Kind::model, "It is one."},
                           {Kind::user, "Thanks."},
                           {Kind::model, "Gladly."}}));
}

TEST(Conversation, ATurnThatWasAskedAgainCountsOnce) {
  EXPECT_EQ(
      read({R"({"entry":"created","spec":{"prompt":"Look."}})", R"({"entry":"turn","turn":0})",
            R"({"entry":"call","id":"a","name":"read","arguments":"{}","text":""})",
            R"({"entry":"turn","turn":0})", R"({"entry":"turn_end","text":"No."})"}),
      (std::vector<Saying>{{Kind::user, "Look."}, {Kind::model, "No."}}));
}

TEST(Conversation, WhatIsNotAJournalTellsNothing) {
  EXPECT_EQ(read({"null", "[]", R"({"entry":7})", R"({"entry":"created"})",
                  R"({"entry":"turn_end","text":{}})"}),
            std::vector<Saying>());
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
}  // namespace errand::cli
