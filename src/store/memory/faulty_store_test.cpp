#include "store/memory/test_faulty_store.hpp"

#include <boost/asio/co_spawn.hpp>

#include "async/task_group.hpp"
#include "store/memory/memory_store.hpp"
#include "store/store_contract_session_setup.hpp"

namespace errand::faulty_store_test {
namespace {

using namespace store_contract;
using Fault = FaultyStore::Fault;
using Kind = FaultyStore::Kind;

class FaultyStoreTest : public testing::Test {
 protected:
  FaultyStore with(Fault fault) {
    return FaultyStore(memory_, [fault](FaultyStore::Operation) { return fault; });
  }
  bool exists(int number) { return wait_for(memory_.find(run_key(number))).has_value(); }

  ManualClock clock_{kStart};
  MemoryStore memory_{make_memory_store_data(), clock_};
};

// Creates run 1 and says what became of it.
Task<void> create_and_report(Store* store, std::string* report) {
  auto outcome = co_await store->create(new_run(1));
  *report = outcome ? "created" : to_string(outcome.error().code());
}

TEST_F(FaultyStoreTest, WithoutAFaultEverythingGoesThrough) {
  FaultyStore store = with(Fault::none);

  auto epoch = wait_for(store.create(new_run(1))).value().epoch;

  EXPECT_TRUE(is_appended(wait_for(store.append(commit_of(1, epoch, events_segment(1, 1, 1))))));
  EXPECT_EQ(wait_for(store.mail(cancel_request(1))).value(), MailOutcome::accepted);
  EXPECT_EQ(wait_for(store.mailboxes(run_key(1))).value().size(), 1U);
  EXPECT_EQ(wait_for(store.find(run_key(1))).value().last_seq, 1);
}

TEST_F(FaultyStoreTest, FailBeforeDoesNothingAndIsUnavailable) {
  FaultyStore store = with(Fault::fail_before);

  auto outcome = wait_for(store.create(new_run(1)));

  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code(), ErrorCode::unavailable);
  EXPECT_FALSE(exists(1));
}

TEST_F(FaultyStoreTest, FailAfterDoesItAndLosesTheAnswer) {
  FaultyStore store = with(Fault::fail_after);

  auto outcome = wait_for(store.create(new_run(1)));

  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code(), ErrorCode::outcome_unknown);
  EXPECT_TRUE(exists(1));
}

TEST_F(FaultyStoreTest, StopBeforeDoesNothingAndNeverReturns) {
  FaultyStore store = with(Fault::stop_before);
  std::string report = "nothing";
  {
    asio::io_context io;
    asio::co_spawn(io, create_and_report(&store, &report), [](std::exception_ptr) {});
    io.poll();
  }
  EXPECT_EQ(report, "nothing");
  EXPECT_FALSE(exists(1));
}

TEST_F(FaultyStoreTest, StopAfterDoesItAndNeverReturns) {
  FaultyStore store = with(Fault::stop_after);
  std::string report = "nothing";
  {
    asio::io_context io;
    asio::co_spawn(io, create_and_report(&store, &report), [](std::exception_ptr) {});
    io.poll();
  }
  EXPECT_EQ(report, "nothing");
  EXPECT_TRUE(exists(1));
}

TEST_F(FaultyStoreTest, AStoppedCallUnwindsWhenItsTaskIsCancelled) {
  FaultyStore store = with(Fault::stop_after);
  std::string report = "nothing";
  asio::io_context io;
  TaskGroup tasks(io.get_executor(), [&](const char*, const std::string& what) { report = what; });
  tasks.spawn("create", create_and_report(&store, &report));
  io.poll();

  tasks.cancel(CancelReason::shutdown);
  io.poll();

  EXPECT_EQ(tasks.size(), 0U);
  EXPECT_EQ(report, "nothing");
}

TEST_F(FaultyStoreTest, SessionsBeginAndEndWithFaultsToo) {
  FaultyStore before = with(Fault::fail_before);
  FaultyStore after = with(Fault::fail_after);

  EXPECT_FALSE(wait_for(before.create_session(new_session(1))));
  EXPECT_FALSE(wait_for(memory_.find_session(session_key(1))));
  EXPECT_FALSE(wait_for(after.create_session(new_session(1))));
  EXPECT_EQ(find_session(memory_, 1).status, SessionStatus::active);

  EXPECT_FALSE(wait_for(before.end_session(session_key(1), "over")));
  EXPECT_EQ(find_session(memory_, 1).status, SessionStatus::active);
  EXPECT_FALSE(wait_for(after.end_session(session_key(1), "over")));
  EXPECT_EQ(find_session(memory_, 1).status, SessionStatus::ended);

  EXPECT_FALSE(wait_for(before.find_session(session_key(1))));
  EXPECT_FALSE(wait_for(before.read_history(session_key(1), 0, 9, 100)));
}

TEST_F(FaultyStoreTest, OperationsAreToldByKindAndNumber) {
  std::vector<std::pair<Kind, std::uint64_t>> asked;
  FaultyStore store(memory_, [&](FaultyStore::Operation operation) {
    asked.emplace_back(operation.kind, operation.number);
    return operation.number == 2 ? Fault::fail_before : Fault::none;
  });

  auto epoch = wait_for(store.create(new_run(1))).value().epoch;
  auto failed = wait_for(store.append(commit_of(1, epoch, events_segment(1, 1, 1))));
  auto appended = wait_for(store.append(commit_of(1, epoch, events_segment(1, 1, 1))));
  auto mailed = wait_for(store.mail(cancel_request(1)));

  EXPECT_FALSE(failed);
  EXPECT_TRUE(is_appended(appended));
  EXPECT_TRUE(mailed);
  EXPECT_EQ(asked, (std::vector<std::pair<Kind, std::uint64_t>>{
                       {Kind::create, 1}, {Kind::append, 2}, {Kind::append, 3}, {Kind::mail, 4}}));
}

}  // namespace
}  // namespace errand::faulty_store_test
