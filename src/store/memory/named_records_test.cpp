#include "store/named_records.hpp"

#include <gtest/gtest.h>

#include <map>

#include "store/memory/memory_store.hpp"
#include "store/store_contract.hpp"
#include "support/manual_clock.hpp"

namespace errand::named_records_test {
namespace {

using store_contract::wait_for;

class NamedRecordsTest : public testing::Test {
 protected:
  NamedRecord create(std::string name, std::string body) {
    return wait_for(agents.create(here, std::move(name), std::move(body), {})).value().record;
  }
  SavedRecord put(std::string name, std::string body) {
    return wait_for(agents.put(here, name, name, std::move(body), {})).value();
  }
  NamedRecord find(std::string id_or_name) {
    return wait_for(agents.find(here, std::move(id_or_name))).value();
  }
  template <class T>
  static std::string reason(const Result<T>& result) {
    if (result) return "no error";
    const Error& error = result.error();
    return error.reason().empty() ? std::string(to_string(error.code())) : error.reason();
  }

  ManualClock clock{1'800'000'000'000};
  std::uint64_t random = 0;
  IdSource ids{clock, [this] { return ++random; }};
  std::shared_ptr<MemoryStoreData> data = make_memory_store_data();
  MemoryStore store{data, clock};
  NamedRecords agents{store, ids, "agent"};
  const WorkspaceSlug here = *WorkspaceSlug::parse("default");
  const WorkspaceSlug elsewhere = *WorkspaceSlug::parse("other");
};

TEST_F(NamedRecordsTest, ARecordIsFoundByItsIdAndByItsName) {
  NamedRecord made = create("support", "one");

  EXPECT_TRUE(made.id.starts_with("agent_"));
  EXPECT_EQ(find(made.id).body, "one");
  EXPECT_EQ(find("support").id, made.id);
  EXPECT_EQ(find("support").version, 1);
  EXPECT_EQ(reason(wait_for(agents.find(elsewhere, "support"))), "not_found");
  EXPECT_EQ(reason(wait_for(agents.find(elsewhere, made.id))), "not_found");
}

TEST_F(NamedRecordsTest, ANameIsTakenOnceInItsWorkspace) {
  create("support", "one");

  EXPECT_EQ(reason(wait_for(agents.create(here, "support", "two", {}))), "name_taken");
  EXPECT_EQ(reason(wait_for(agents.create(elsewhere, "support", "two", {}))), "no error");
  EXPECT_EQ(find("support").body, "one");
}

TEST_F(NamedRecordsTest, AnEqualRequestGetsTheSameRecord) {
  const Idempotency key{.key = "k1", .fingerprint = "f1"};
  NamedRecord first = wait_for(agents.create(here, "support", "one", key)).value().record;

  auto again = wait_for(agents.create(here, "support", "one", key));
  auto other = wait_for(agents.create(here, "sales", "two", {.key = "k1", .fingerprint = "f2"}));

  EXPECT_EQ(again.value().record.id, first.id);
  EXPECT_EQ(reason(other), "idempotency_conflict");
}

TEST_F(NamedRecordsTest, AReplacedRecordKeepsItsIdAndItsEarlierVersions) {
  NamedRecord made = create("support", "one");
  clock.pass(seconds(5));

  SavedRecord saved = put("support", "two");

  EXPECT_FALSE(saved.is_new);
  EXPECT_EQ(saved.record.id, made.id);
  EXPECT_EQ(saved.record.version, 2);
  EXPECT_EQ(saved.record.created_at, made.created_at);
  EXPECT_EQ(saved.record.updated_at, made.updated_at + seconds(5));
  NamedRecord first = wait_for(agents.find_version(here, made.id, 1)).value();
  EXPECT_EQ(first.body, "one");
  EXPECT_EQ(first.version, 1);
  auto versions = wait_for(agents.versions(here, "support")).value();
  ASSERT_EQ(versions.size(), 2U);
  EXPECT_EQ(versions[0].body, "two");
  EXPECT_EQ(versions[1].body, "one");
}

TEST_F(NamedRecordsTest, APutMakesWhatIsNotThereIfItSaysItsName) {
  EXPECT_TRUE(put("support", "one").is_new);
  EXPECT_EQ(reason(wait_for(agents.put(here, "agent_none", "sales", "x", {}))), "not_found");
}

TEST_F(NamedRecordsTest, AChangeThatBuildsOnAnotherVersionIsRefused) {
  NamedRecord made = create("support", "one");
  put("support", "two");

  EXPECT_EQ(reason(wait_for(agents.put(here, made.id, "support", "three", 1))), "version_mismatch");
  EXPECT_EQ(reason(wait_for(agents.put(here, "support", "support", "three", 0))),
            "version_mismatch");
  EXPECT_EQ(reason(wait_for(agents.remove(here, "support", 1))), "version_mismatch");
  EXPECT_EQ(find("support").body, "two");
  EXPECT_EQ(wait_for(agents.put(here, made.id, "support", "three", 2)).value().record.version, 3);
}

TEST_F(NamedRecordsTest, ARenamedRecordFreesItsName) {
  NamedRecord made = create("support", "one");
  create("sales", "x");

  EXPECT_EQ(reason(wait_for(agents.put(here, made.id, "sales", "two", {}))), "name_taken");
  EXPECT_EQ(reason(wait_for(agents.put(here, made.id, "helpdesk", "two", {}))), "no error");
  EXPECT_EQ(find("helpdesk").id, made.id);
  EXPECT_EQ(reason(wait_for(agents.find(here, "support"))), "not_found");
  EXPECT_NE(create("support", "new").id, made.id);
}

TEST_F(NamedRecordsTest, NothingIsLeftOfADeletedRecord) {
  NamedRecord made = create("support", "one");
  put("support", "two");

  EXPECT_EQ(reason(wait_for(agents.remove(here, "support", {}))), "no error");
  EXPECT_EQ(reason(wait_for(agents.find(here, made.id))), "not_found");
  EXPECT_EQ(reason(wait_for(agents.find_version(here, made.id, 1))), "not_found");
  EXPECT_EQ(reason(wait_for(agents.remove(here, "support", {}))), "not_found");
  for (const char* kind : {"agent", "agent_version", "agent_name"}) {
    EXPECT_TRUE(wait_for(store.list_records({.workspace = here, .kind = kind})).value().empty());
  }
}

TEST_F(NamedRecordsTest, OnlyTheLatestVersionsAreKept) {
  NamedRecord made = create("support", "1");
  for (int n = 2; n <= NamedRecords::kVersionsKept + 3; ++n) put("support", std::to_string(n));

  auto versions = wait_for(agents.versions(here, made.id)).value();

  ASSERT_EQ(versions.size(), static_cast<std::size_t>(NamedRecords::kVersionsKept));
  EXPECT_EQ(versions.front().body, "103");
  EXPECT_EQ(versions.back().body, "4");
  EXPECT_EQ(reason(wait_for(agents.find_version(here, made.id, 3))), "not_found");
  EXPECT_EQ(reason(wait_for(agents.remove(here, made.id, {}))), "no error");
  EXPECT_TRUE(
      wait_for(store.list_records({.workspace = here, .kind = "agent_version"})).value().empty());
}

TEST_F(NamedRecordsTest, AListComesInPages) {
  for (const char* name : {"a", "b", "c"}) create(name, name);

  NamedRecordPage first = wait_for(agents.list(here, "", 2)).value();
  NamedRecordPage second = wait_for(agents.list(here, first.next, 2)).value();

  ASSERT_EQ(first.records.size(), 2U);
  EXPECT_EQ(first.records[0].name, "a");
  ASSERT_EQ(second.records.size(), 1U);
  EXPECT_EQ(second.records[0].name, "c");
  EXPECT_EQ(second.next, "");
}

TEST_F(NamedRecordsTest, APageOfLongRecordsEndsEarly) {
  const std::string half(NamedRecords::kPageBytesMax / 2, 'x');
  for (const char* name : {"a", "b", "c"}) create(name, half);

  NamedRecordPage first = wait_for(agents.list(here, "", 50)).value();
  NamedRecordPage second = wait_for(agents.list(here, first.next, 50)).value();

  EXPECT_EQ(first.records.size(), 2U);
  ASSERT_EQ(second.records.size(), 1U);
  EXPECT_EQ(second.records[0].name, "c");
  EXPECT_EQ(second.next, "");
}

TEST(RecordNames, AreShortWords) {
  EXPECT_TRUE(is_valid_record_name("Support-desk_2.x"));
  EXPECT_TRUE(is_valid_record_name(std::string(64, 'a')));
  for (const std::string& wrong : {std::string(), std::string(65, 'a'), std::string("a b"),
                                   std::string("a/b"), std::string("a\nb")}) {
    EXPECT_FALSE(is_valid_record_name(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace errand::named_records_test
