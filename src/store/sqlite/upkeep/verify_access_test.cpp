#include <utility>

#include "store/sqlite/file/database.hpp"
#include "store/sqlite/sqlite_fixture.hpp"
#include "store/sqlite/upkeep/verify.hpp"

// What check-data says about records that let somebody in: grants, keys and secrets.
namespace errand::verify_access_test {
namespace {

using namespace store_contract;
using Findings = std::vector<std::string>;
using sqlite::Database;

// A record of each kind, as far as check-data reads it.
class VerifyAccessTest : public testing::Test {
 protected:
  VerifyAccessTest() {
    add("api-key", "key_1", "{}");
    add("oauth-client", "portal", "{}");
    add("oauth-token", "hash", R"({"client":"portal"})");
    add("workspace", "acme", "{}");
    add("data_key", "current", R"({"id":"dk_1","masterKey":"m","sealed":"AAAA"})");
    add("secret", "TOKEN", R"({"sealed":"dk_1:AAAA"})");
    add("room_key", "signer", R"({"name":"n","sealed":"dk_1:AAAA"})");
    add("room_key_owner", "signer", R"({"workspace":"default"})");
  }
  void add(std::string kind, std::string id, std::string body) {
    std::vector<RecordChange> changes;
    changes.push_back(
        {.key = {.workspace = workspace(), .kind = std::move(kind), .id = std::move(id)},
         .body = std::move(body)});
    EXPECT_TRUE(wait_for(file_.store().change_records(std::move(changes))));
  }
  // Replaces the body of the records of a kind, as no store does.
  void spoil(std::string_view kind, std::string_view body) {
    execute(cat("UPDATE records SET body = CAST('", body, "' AS BLOB) WHERE kind = '", kind, "'"));
  }
  void execute(const std::string& sql) {
    file_.close();
    auto database = Database::open(file_.path(), Database::Access::write).value();
    EXPECT_TRUE(database->execute(sql));
  }
  Findings verify() { return sqlite::verify(file_.path()).value(); }

  SqliteFile file_;
};

TEST_F(VerifyAccessTest, NothingIsWrongWithRecordsInUse) {
  EXPECT_EQ(verify(), Findings());
}

TEST_F(VerifyAccessTest, GrantsAndWorkspacesThatCannotBeReadAreFound) {
  for (const char* kind : {"api-key", "oauth-client", "oauth-token", "workspace"}) spoil(kind, "{");
  EXPECT_EQ(verify(), (Findings{"the record api-key key_1 of default cannot be read",
                                "the record oauth-client portal of default cannot be read",
                                "the record oauth-token hash of default cannot be read",
                                "the record workspace acme of default cannot be read"}));
}

TEST_F(VerifyAccessTest, ATokenWithoutItsClientIsFound) {
  execute("DELETE FROM records WHERE kind = 'oauth-client'");
  EXPECT_EQ(verify(), Findings{"oauth-token hash of default belongs to no oauth-client"});
}

TEST_F(VerifyAccessTest, ATokenOfAClientOfAnotherWorkspaceIsFound) {
  execute("UPDATE records SET workspace = 'other' WHERE kind = 'oauth-client'");
  EXPECT_EQ(verify(), Findings{"oauth-token hash of default belongs to no oauth-client"});
}

TEST_F(VerifyAccessTest, WhatIsSealedAndCannotBeReadIsFound) {
  const Findings all{"the record data_key current of default cannot be read",
                     "the record room_key signer of default cannot be read",
                     "the record secret TOKEN of default cannot be read"};
  for (const char* body : {"{", "{}", R"({"id":"dk_1","sealed":7})", R"("sealed")"}) {
    for (const char* kind : {"data_key", "room_key", "secret"}) spoil(kind, body);
    EXPECT_EQ(verify(), all) << body;
  }
}

TEST_F(VerifyAccessTest, WhatIsSealedWithoutTheNameOfItsKeyIsFound) {
  for (const char* kind : {"data_key", "secret"}) spoil(kind, R"({"sealed":"AAAA"})");
  EXPECT_EQ(verify(), (Findings{"the record data_key current of default cannot be read",
                                "the record secret TOKEN of default cannot be read"}));
}

TEST_F(VerifyAccessTest, ARoomKeyThatItsIdDoesNotLeadToIsFound) {
  const Findings lost{"room_key signer of default is not found by its id"};
  for (const char* body : {R"({"workspace":"other"})", "{}", "{"}) {
    spoil("room_key_owner", body);
    EXPECT_EQ(verify(), lost) << body;
  }
  execute("DELETE FROM records WHERE kind = 'room_key_owner'");
  EXPECT_EQ(verify(), lost);
}

TEST_F(VerifyAccessTest, AnOwnerOfNoRoomKeyIsFound) {
  execute("DELETE FROM records WHERE kind = 'room_key'");
  EXPECT_EQ(verify(), Findings{"the owner of room_key signer is told, but there is no such key"});
}

}  // namespace
}  // namespace errand::verify_access_test
