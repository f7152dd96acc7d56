#include "engine/session_cache.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/text.hpp"

namespace errand::engine::session_cache_test {
namespace {

SessionKey session(int number) {
  return {.workspace = *WorkspaceSlug::parse("default"),
          .session = *SessionId::parse(cat("sess_", number))};
}

void keep(SessionCache& cache, int number) {
  SessionParams params;
  params.spec.name = cat(number);
  cache.keep(session(number), {.params = std::make_shared<const SessionParams>(params)});
}

// The name of the session as it was kept; "-" if nothing is known.
std::string name(SessionCache& cache, int number) {
  auto known = cache.find(session(number));
  return known.params ? known.params->spec.name : "-";
}

TEST(SessionCache, TheSessionUsedLongestAgoIsForgottenFirst) {
  SessionCache cache(2);
  keep(cache, 1);
  keep(cache, 2);
  EXPECT_EQ(name(cache, 1), "1");
  keep(cache, 3);
  EXPECT_EQ(name(cache, 2), "-");
  EXPECT_EQ(name(cache, 1), "1");
  EXPECT_EQ(name(cache, 3), "3");
}

TEST(SessionCache, TheLengthOfAHistoryIsNotedIfTheSessionIsKnown) {
  SessionCache cache;
  keep(cache, 1);
  cache.note(session(1), {.entries = 2, .bytes = 20});
  cache.note(session(2), {.entries = 2, .bytes = 20});
  EXPECT_EQ(cache.find(session(1)).history, (HistorySize{.entries = 2, .bytes = 20}));
  EXPECT_EQ(cache.find(session(2)).params, nullptr);
}

}  // namespace
}  // namespace errand::engine::session_cache_test
