#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/schema.hpp"
#include "sdk/api/test_metaschema.hpp"

namespace shop {
namespace {

namespace fs = std::filesystem;
namespace json = errand::json;

const fs::path kMetaschemas =
    fs::path(ERRAND_SOURCE_DIR) / ".." / "shared" / "data" / "json-schema-metaschemas" / "2020-12";

json::Value parsed(std::string_view text) {
  auto value = json::parse(text);
  EXPECT_TRUE(value) << text;
  return value ? std::move(*value) : json::Value();
}

json::Value read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return parsed(std::string((std::istreambuf_iterator<char>(file)), {}));
}

// The official metaschema, with the vocabularies that it refers to.
json::CompiledSchemaPtr metaschema() {
  json::SchemaDocuments documents;
  std::string base = "https://json-schema.org/draft/2020-12/";
  documents.add(errand::cat(base, "schema"), read(kMetaschemas / "schema.json"));
  for (const auto& entry : fs::directory_iterator(kMetaschemas / "meta")) {
    std::string name = entry.path().stem().string();
    documents.add(errand::cat(base, "meta/", name), read(entry.path()));
  }
  auto compiled =
      json::compile_schema(read(kMetaschemas / "schema.json"), {.documents = &documents});
  EXPECT_TRUE(compiled);
  return compiled ? *compiled : nullptr;
}

}  // namespace

std::string metaschema_errors(std::string_view schema) {
  static const json::CompiledSchemaPtr kCompiled = metaschema();
  return json::describe(kCompiled->validate(parsed(schema)));
}

std::string schema_errors(std::string_view schema, std::string_view value) {
  auto compiled = json::compile_schema(parsed(schema));
  if (!compiled) return compiled.error().describe();
  return json::describe((*compiled)->validate(parsed(value)));
}

}  // namespace shop

namespace shop::metaschema_test {

TEST(Metaschema, RefusesASchemaWithAWrongType) {
  EXPECT_EQ(metaschema_errors(R"({"type":"text"})").substr(0, 5), "/type");
  EXPECT_EQ(metaschema_errors(R"({"type":"string"})"), "");
}

}  // namespace shop::metaschema_test
