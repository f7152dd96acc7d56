#pragma once

// The part of the contract about records.

#include "store/store_contract.hpp"

namespace errand {

using namespace store_contract;

inline RecordKey record_key(std::string id, std::string kind = "agent",
                            std::string_view in = "default") {
  return {.workspace = workspace(in), .kind = std::move(kind), .id = std::move(id)};
}

inline RecordChange put(RecordKey key, std::string body,
                        std::optional<std::int64_t> expected_version = {}) {
  return {.key = std::move(key), .body = std::move(body), .expected_version = expected_version};
}

inline RecordChange removal(RecordKey key, std::optional<std::int64_t> expected_version = {}) {
  return {.key = std::move(key), .body = {}, .expected_version = expected_version};
}

// As a record is that was made and changed at the beginning of a test.
inline Record record(RecordKey key, std::string body, std::int64_t version = 1) {
  return {.key = std::move(key),
          .version = version,
          .created_at = from_millis(kStart),
          .updated_at = from_millis(kStart),
          .body = std::move(body)};
}

inline RecordsOutcome change(Store& store, std::vector<RecordChange> changes) {
  return wait_for(store.change_records(std::move(changes))).value();
}

// The record, if there is one.
inline std::optional<Record> found(Store& store, RecordKey key) {
  auto record = wait_for(store.find_record(std::move(key)));
  if (record) return *record;
  EXPECT_EQ(record.error().code(), ErrorCode::not_found);
  return {};
}

inline std::vector<std::string> listed_records(Store& store, RecordFilter filter) {
  std::vector<std::string> out;
  for (const Record& record : wait_for(store.list_records(std::move(filter))).value()) {
    out.push_back(record.key.id);
  }
  return out;
}

TEST_P(StoreContract, ARecordIsFoundAsItWasPut) {
  const std::string body("{\"t\":\"\0\xff\"}", 10);

  RecordsOutcome outcome = change(store(), {put(record_key("a"), body)});
  reopen();

  EXPECT_EQ(outcome.refused, std::nullopt);
  EXPECT_EQ(outcome.records, std::vector{record(record_key("a"), body)});
  EXPECT_EQ(found(store(), record_key("a")), record(record_key("a"), body));
}

TEST_P(StoreContract, AChangedRecordHasAHigherVersionAndItsFirstTime) {
  change(store(), {put(record_key("a"), "one")});
  clock().pass(seconds(5));

  RecordsOutcome outcome = change(store(), {put(record_key("a"), "two", 1)});

  Record expected = record(record_key("a"), "two", 2);
  expected.updated_at += seconds(5);
  EXPECT_EQ(outcome.records, std::vector{expected});
  EXPECT_EQ(found(store(), record_key("a")), expected);
}

TEST_P(StoreContract, ChangesOfRecordsAreMadeAllTogetherOrNotAtAll) {
  change(store(), {put(record_key("a"), "one"), put(record_key("b"), "one")});

  RecordsOutcome refused =
      change(store(), {put(record_key("c"), "new", 0), removal(record_key("a"), 1),
                       put(record_key("b"), "two", 7)});

  EXPECT_EQ(refused.refused, 2U);
  EXPECT_EQ(refused.records, std::vector<Record>());
  EXPECT_EQ(found(store(), record_key("a")), record(record_key("a"), "one"));
  EXPECT_EQ(found(store(), record_key("b")), record(record_key("b"), "one"));
  EXPECT_EQ(found(store(), record_key("c")), std::nullopt);
}

TEST_P(StoreContract, TheFirstChangeThatDoesNotFitIsTold) {
  change(store(), {put(record_key("a"), "one")});

  EXPECT_EQ(change(store(), {put(record_key("a"), "x", 0)}).refused, 0U) << "it must be new";
  EXPECT_EQ(change(store(), {put(record_key("b"), "x", 1)}).refused, 0U) << "it is not there";
  EXPECT_EQ(change(store(), {put(record_key("a"), "x", 2), put(record_key("a"), "x", 3)}).refused,
            0U);
  EXPECT_EQ(change(store(), {removal(record_key("a"), 2)}).refused, 0U);
  EXPECT_EQ(found(store(), record_key("a")), record(record_key("a"), "one"));
}

TEST_P(StoreContract, OneOfFiftyChangesOfTheSameVersionWins) {
  change(store(), {put(record_key("a"), "one")});
  std::vector<Task<Result<RecordsOutcome>>> race;
  for (int i = 0; i < 50; ++i) {
    race.push_back(store().change_records({put(record_key("a"), cat("by ", i), 1)}));
  }

  auto results = wait_for_all(std::move(race));

  EXPECT_EQ(std::count_if(results.begin(), results.end(),
                          [](const auto& result) { return !result.value().refused; }),
            1);
  EXPECT_EQ(found(store(), record_key("a"))->version, 2);
}

TEST_P(StoreContract, ARemovedRecordIsGoneAndAsNewAfterwards) {
  change(store(), {put(record_key("a"), "one"), put(record_key("a"), "two")});

  EXPECT_EQ(change(store(), {removal(record_key("a"), 2)}).records, std::vector<Record>());
  EXPECT_EQ(found(store(), record_key("a")), std::nullopt);
  EXPECT_EQ(change(store(), {removal(record_key("a"))}).refused, std::nullopt);
  EXPECT_EQ(change(store(), {put(record_key("a"), "anew", 0)}).records,
            std::vector{record(record_key("a"), "anew")});
}

TEST_P(StoreContract, ChangesOfOneRecordInOneGoAreMadeInOrder) {
  RecordsOutcome outcome = change(store(), {put(record_key("a"), "one"), put(record_key("b"), "b"),
                                            put(record_key("a"), "two")});

  EXPECT_EQ(outcome.records,
            (std::vector{record(record_key("a"), "one"), record(record_key("b"), "b"),
                         record(record_key("a"), "two", 2)}));
}

TEST_P(StoreContract, RecordsAreListedByIdAndPage) {
  for (const char* id : {"d", "a", "c", "b"}) change(store(), {put(record_key(id), id)});
  RecordFilter page{.workspace = workspace(), .kind = "agent", .after = "", .limit = 2};
  using Ids = std::vector<std::string>;

  EXPECT_EQ(listed_records(store(), page), (Ids{"a", "b"}));
  page.after = "b";
  EXPECT_EQ(listed_records(store(), page), (Ids{"c", "d"}));
  page.after = "d";
  EXPECT_EQ(listed_records(store(), page), Ids());
  page.after = "bb";
  page.limit = 1;
  EXPECT_EQ(wait_for(store().list_records(page)).value(),
            std::vector{record(record_key("c"), "c")});
  page = {.workspace = workspace(), .kind = "agent", .bytes_max = 2};
  EXPECT_EQ(listed_records(store(), page), (Ids{"a", "b", "c"})) << "the last one tells of more";
}

TEST_P(StoreContract, RecordsOfOtherKindsAndWorkspacesAreOthers) {
  change(store(), {put(record_key("a"), "mine"), put(record_key("a", "agents"), "another kind"),
                   put(record_key("a", "agent", "other"), "theirs")});

  EXPECT_EQ(found(store(), record_key("a", "agent", "other"))->body, "theirs");
  EXPECT_EQ(found(store(), record_key("a", "agents"))->body, "another kind");
  EXPECT_EQ(listed_records(store(), {.workspace = workspace(), .kind = "agent", .after = ""}),
            std::vector<std::string>{"a"});
  change(store(), {removal(record_key("a", "agent", "other"), 1)});
  EXPECT_EQ(found(store(), record_key("a"))->body, "mine");
  EXPECT_EQ(found(store(), record_key("a", "agent", "third")), std::nullopt);
}

}  // namespace errand
