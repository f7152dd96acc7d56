#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "json/schema/dialect.hpp"
#include "json/schema/node.hpp"
#include "json/schema/uri.hpp"

namespace errand::json::schema {

// A schema where it stands in its document, by which it is known.
class Source final {
 public:
  Source(const Object& object) : place_(&object), object_(&object) {}
  Source(const Value& value) : place_(&value), object_(value.if_object()) {
    if (object_) place_ = object_;
    accepts_all_ = value.is_bool() && value.get_bool();
  }

  const void* place() const { return place_; }
  const Object* object() const { return object_; }   // null for a boolean
  bool accepts_all() const { return accepts_all_; }  // the boolean
  bool operator==(const Source& other) const { return place_ == other.place_; }

 private:
  const void* place_;
  const Object* object_;
  bool accepts_all_ = false;
};

// A schema with a base URI of its own: a document, or a subschema with an $id.
struct Resource {
  Source root;
  std::string uri;
  Dialect dialect;
  std::map<std::string, Source, std::less<>> anchors;  // dynamic ones too
  std::map<std::string, Source, std::less<>> dynamic_anchors;
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
  Result<void> add(const Source& document, std::string_view uri, const Dialect& fallback);

  struct Place {
    Node* node;
    Source source;
  };

  // The subschema a reference leads to; a document without "$schema" is read as `fallback` says.
  Result<Place> find(const Target& target, const Dialect& fallback);

  // Null if no subschema is known to be there.
  Node* node_of(const Source& source) const;

  const std::vector<Resource>& resources() const { return resources_; }
  const std::vector<Place>& places() const { return places_; }
  std::size_t bytes() const { return bytes_; }

 private:
  Result<void> walk(const Source& source, std::uint32_t resource, const Node* parent,
                    NodeStep step);
  Result<std::uint32_t> identify(const Object& schema, std::uint32_t resource, const Node& at);
  Result<std::uint32_t> add_resource(const Object& schema, std::string uri,
                                     const Dialect& inherited, const Node& at);
  Result<void> add_anchors(const Object& schema, std::uint32_t resource, const Node& at);
  Result<Place> follow(std::uint32_t resource, std::string_view pointer);
  Error mistake(const Node& at, std::string_view keyword, std::string message) const;

  Program& program_;
  const CompileOptions& options_;
  std::string document_;  // uri of the document being read
  std::vector<Resource> resources_;
  std::map<std::string, std::uint32_t, std::less<>> by_uri_;
  boost::unordered_flat_map<const void*, Node*> nodes_;  // by the places of their sources
  std::vector<Place> places_;                            // in the order of reading
  std::size_t bytes_ = 0;
};

}  // namespace errand::json::schema
