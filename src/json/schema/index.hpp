#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "json/schema/dialect.hpp"
#include "json/schema/node.hpp"
#include "json/schema/uri.hpp"

namespace errand::json::schema {

// A schema with a base URI of its own: a document, or a subschema with an $id.
struct Resource {
  const Value* root = nullptr;
  std::string uri;
  Dialect dialect;
  std::map<std::string, const Value*, std::less<>> anchors;  // dynamic ones too
  std::map<std::string, const Value*, std::less<>> dynamic_anchors;
};

// Everything a reference can lead to. Knows the places of all subschemas of the documents read so
// far, each with the node that it will be compiled to, and reads registered documents when a
// reference first leads there.
class Index final {
 public:
  // Both outlive the index, and so do the documents.
  Index(Program& program, const CompileOptions& options) : program_(program), options_(options) {}

  // Reads a document that lies at `uri` (empty for the schema to compile). Every mistake has its
  // pointer.
  Result<void> add(const Value& document, std::string_view uri, const Dialect& fallback);

  struct Place {
    Node* node = nullptr;
    const Value* source = nullptr;
  };

  // The subschema a reference leads to; a document without "$schema" is read as `fallback` says.
  Result<Place> find(const Target& target, const Dialect& fallback);

  // Null if no subschema is known to be there.
  Node* node_of(const Value& source) const;

  const std::vector<Resource>& resources() const { return resources_; }
  const std::vector<Place>& places() const { return places_; }
  std::size_t bytes() const { return bytes_; }

 private:
  Result<void> walk(const Value& source, std::uint32_t resource, const Node* parent,
                    std::string step);
  Result<std::uint32_t> identify(const Object& schema, const Value& source, std::uint32_t resource,
                                 const Node& at);
  Result<std::uint32_t> add_resource(const Object& schema, const Value& source, std::string uri,
                                     const Dialect& inherited, const Node& at);
  Result<void> add_anchors(const Object& schema, const Value& source, std::uint32_t resource,
                           const Node& at);
  Result<Place> follow(std::uint32_t resource, std::string_view pointer);
  Error mistake(const Node& at, std::string_view keyword, std::string message) const;

  Program& program_;
  const CompileOptions& options_;
  std::string document_;  // uri of the document being read
  std::vector<Resource> resources_;
  std::map<std::string, std::uint32_t, std::less<>> by_uri_;
  std::unordered_map<const Value*, std::uint32_t> resource_roots_;
  std::unordered_map<const Value*, Node*> nodes_;
  std::vector<Place> places_;  // in the order of reading
  std::size_t bytes_ = 0;
};

}  // namespace errand::json::schema
