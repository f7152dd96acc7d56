// Runs the official JSON Schema test suite, which lies beside the repository rather than in it.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/schema.hpp"
#include "json/write.hpp"

namespace errand::json::schema_suite_test {
namespace {

namespace fs = std::filesystem;

const fs::path kData = fs::path(ERRAND_SOURCE_DIR) / ".." / "shared" / "data";
const fs::path kSuite = kData / "json-schema-test-suite";
const fs::path kMetaschemas = kData / "json-schema-metaschemas";

Value read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  auto value = parse(text);
  EXPECT_TRUE(value) << path;
  return value ? std::move(*value) : Value();
}

std::vector<fs::path> json_files(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

// What the suite's schemas refer to: its own remote documents and the metaschemas.
SchemaDocuments documents() {
  SchemaDocuments out;
  fs::path remotes = kSuite / "remotes";
  for (const auto& entry : fs::recursive_directory_iterator(remotes)) {
    if (entry.path().extension() != ".json") continue;
    std::string name = entry.path().lexically_relative(remotes).generic_string();
    out.add(cat("http://localhost:1234/", name), read(entry.path()));
  }
  out.add("http://json-schema.org/draft-07/schema", read(kMetaschemas / "draft-07.json"));
  std::string base = "https://json-schema.org/draft/2020-12/";
  out.add(cat(base, "schema"), read(kMetaschemas / "2020-12" / "schema.json"));
  for (const fs::path& path : json_files(kMetaschemas / "2020-12" / "meta")) {
    out.add(cat(base, "meta/", path.stem().string()), read(path));
  }
  return out;
}

struct Outcome {
  std::size_t passed = 0;
  std::size_t plain = 0;  // schemas that are known to compile before they do
  std::vector<std::string> failed;
};

// Draft 7 schemas of the suite do not say so.
Value with_draft(const Value& schema, std::string_view draft) {
  if (!schema.is_object() || schema.get_object().contains("$schema")) return schema;
  Object out = schema.get_object();
  if (draft == "draft7") out["$schema"] = "http://json-schema.org/draft-07/schema#";
  return out;
}

void run_group(const Object& group, std::string_view draft, const CompileOptions& options,
               std::string_view name, Outcome& outcome) {
  Value source = with_draft(group.at("schema"), draft);
  if (source.is_object() && is_plain_schema(source.get_object())) {
    ++outcome.plain;
    if (!compile_schema(source)) outcome.failed.push_back(cat(name, ": plain, but not compiled"));
  }
  auto schema = compile_schema(source, options);
  if (!schema) {
    outcome.failed.push_back(cat(name, ": ", schema.error().describe()));
    return;
  }
  for (const Value& test : group.at("tests").get_array()) {
    const Value& data = test.at("data");
    bool valid = test.at("valid").get_bool();
    bool agrees = (*schema)->accepts(data) == valid && (*schema)->validate(data).empty() == valid;
    if (agrees) {
      ++outcome.passed;
    } else {
      outcome.failed.push_back(cat(name, ": ", view(test.at("description").get_string())));
    }
  }
}

bool contains(const std::vector<std::string>& list, std::string_view wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

// `left_out` names files ("content") or groups in them ("regex: description").
Outcome run_folder(const fs::path& folder, std::string_view draft, Formats formats,
                   const std::vector<std::string>& left_out = {}) {
  SchemaDocuments known = documents();
  CompileOptions options{.documents = &known, .formats = formats};
  Outcome outcome;
  for (const fs::path& path : json_files(folder)) {
    std::string stem = path.stem().string();
    Value file = read(path);
    for (const Value& group : file.get_array()) {
      std::string name = cat(stem, ": ", view(group.at("description").get_string()));
      if (contains(left_out, stem) || contains(left_out, name)) continue;
      run_group(group.get_object(), draft, options, name, outcome);
    }
  }
  return outcome;
}

class JsonSchemaSuite : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!fs::exists(kSuite / "tests")) GTEST_SKIP() << "there is no " << kSuite;
  }
  fs::path folder() const { return kSuite / "tests" / GetParam(); }
};

TEST_P(JsonSchemaSuite, PassesEveryRequiredTest) {
  Outcome outcome = run_folder(folder(), GetParam(), Formats::annotate);
  EXPECT_EQ(outcome.failed, std::vector<std::string>());
  EXPECT_GT(outcome.passed, 900U);
  EXPECT_GT(outcome.plain, 50U);
}

TEST_P(JsonSchemaSuite, PassesTheOptionalTestsOfWhatIsSupported) {
  std::vector<std::string> left_out = {
      "content",                     // encoded content is not looked into
      "cross-draft",                 // 2019-09 is refused
      "dependencies-compatibility",  // a keyword of draft 7 means nothing in 2020-12
  };
  Outcome outcome = run_folder(folder() / "optional", GetParam(), Formats::annotate, left_out);
  EXPECT_EQ(outcome.failed, std::vector<std::string>());
  EXPECT_GT(outcome.passed, 80U);
}

TEST_P(JsonSchemaSuite, PassesTheTestsOfEveryFormatThatIsChecked) {
  std::vector<std::string> left_out = {
      "idn-hostname",
      "uri-template",
      "hostname: validation of A-label (punycode) host names",  // labels are not decoded
      // RE2 knows (?i), and patterns from other languages have it.
      "ecmascript-regex: global inline flag groups are not valid ECMA 262",
  };
  Outcome outcome =
      run_folder(folder() / "optional" / "format", GetParam(), Formats::check, left_out);
  EXPECT_EQ(outcome.failed, std::vector<std::string>());
  EXPECT_GT(outcome.passed, 400U);
}

INSTANTIATE_TEST_SUITE_P(Drafts, JsonSchemaSuite, testing::Values("draft7", "draft2020-12"),
                         [](const auto& parameter) {
                           return parameter.param == "draft7" ? "Draft7" : "Draft2020";
                         });

}  // namespace
}  // namespace errand::json::schema_suite_test
