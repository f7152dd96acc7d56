#include "tool/secrets.hpp"

#include <gtest/gtest.h>

#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::secrets_test {
namespace {

TEST(CallSecrets, BlotsOutASecretOfDigitsThatComesBackAsANumber) {
  CallSecrets secrets(nullptr, *WorkspaceSlug::parse("default"));
  secrets.remember("83720011");
  json::Value value = json::parse(R"({"pin":83720011,"n":8372001,"list":[83720011]})").value();
  secrets.blot_out(value);
  EXPECT_EQ(json::write(value), R"({"pin":"[redacted]","n":8372001,"list":["[redacted]"]})");
}

}  // namespace
}  // namespace errand::secrets_test
