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

namespace errand::json {
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
               std::string_view file, Outcome& outcome) {
  std::string name = cat(file, ": ", view(group.at("description").get_string()));
  auto schema = compile_schema(with_draft(group.at("schema"), draft), options);
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

Outcome run_folder(const fs::path& folder, std::string_view draft, Formats formats,
                   const std::vector<std::string>& only = {}) {
  SchemaDocuments known = documents();
  CompileOptions options{.documents = &known, .formats = formats};
  Outcome outcome;
  for (const fs::path& path : json_files(folder)) {
    std::string stem = path.stem().string();
    if (!only.empty() && std::find(only.begin(), only.end(), stem) == only.end()) continue;
    Value file = read(path);
    for (const Value& group : file.get_array()) {
      run_group(group.get_object(), draft, options, stem, outcome);
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
}

INSTANTIATE_TEST_SUITE_P(Drafts, JsonSchemaSuite, testing::Values("draft7", "draft2020-12"),
                         [](const auto& parameter) {
                           return parameter.param == "draft7" ? "Draft7" : "Draft2020";
                         });

}  // namespace
}  // namespace errand::json
