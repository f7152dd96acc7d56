#pragma once

#include <string>
#include <string_view>

#include "async/task.hpp"
#include "base/result.hpp"
#include "engine/engine.hpp"
#include "engine/records/record_books.hpp"
#include "json/value.hpp"
#include "net/http.hpp"
#include "run/principal.hpp"
#include "store/named_records.hpp"

namespace errand::server {

// A record as it is to be stored, with its secrets sealed.
struct NewNamedRecord {
  std::string name;
  std::string body;
};

// What the routes of one kind of records have to know of it. Agents and stored tools are such
// kinds.
struct NamedKind {
  std::string_view noun;   // "agent", for messages
  std::string_view nouns;  // "agents", the member of lists
  NamedRecords engine::RecordBooks::* records;
  Result<json::Object> (*shown)(const NamedRecord& record);
  // What the body of a request asks for. `name` is the record's if the body has none.
  // invalid_argument: with the pointer. `engine` and `request` outlive the task.
  Task<Result<NewNamedRecord>> (*read)(engine::Engine* engine, net::Request* request,
                                       WorkspaceSlug workspace, std::string name);
};
extern const NamedKind kAgentKind;
extern const NamedKind kToolKind;

// The verbs of such routes. `kind` and `engine` outlive the task.
using NamedVerb = Task<Result<net::Response>>(const NamedKind* kind, engine::Engine* engine,
                                              Principal who, net::Request request);
NamedVerb create_record;
NamedVerb list_records;
NamedVerb get_record;
NamedVerb list_record_versions;
NamedVerb put_record;
NamedVerb delete_record;

}  // namespace errand::server
