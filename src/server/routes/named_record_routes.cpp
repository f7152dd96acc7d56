#include "server/routes/named_record_routes.hpp"

#include <utility>
#include <vector>

#include "async/breath.hpp"
#include "server/openapi/query.hpp"
#include "server/request_body.hpp"
#include "server/routes/record_answer.hpp"

namespace errand::server {
namespace {

Result<net::Response> response_of(const NamedKind& kind, int status, const NamedRecord& record) {
  ERRAND_TRY(auto body, kind.shown(record));
  return record_response(status, body, record.version);
}

// `kind` outlives the task.
Task<Result<json::Array>> shown_all(const NamedKind* kind, std::vector<NamedRecord> records) {
  json::Array items;
  Breath breath(kBytesInABreath);
  for (const NamedRecord& record : records) {
    if (breath.is_due(record.body.size())) co_await let_others_run();
    ERRAND_CO_TRY(auto item, kind->shown(record));
    items.push_back(std::move(item));
  }
  co_return items;
}

}  // namespace

Task<Result<net::Response>> create_record(const NamedKind* kind, engine::Engine* engine,
                                          Principal who, net::Request request) {
  ERRAND_CO_TRY(auto made, co_await kind->read(engine, &request, who.workspace, ""));
  ERRAND_CO_TRY(auto idempotency, co_await idempotency_of(&request, engine->pool()));
  NamedRecords& records = engine->records().*kind->records;
  ERRAND_CO_TRY(auto saved, co_await records.create(who.workspace, std::move(made.name),
                                                    std::move(made.body), std::move(idempotency)));
  co_return response_of(*kind, 201, saved.record);
}

Task<Result<net::Response>> list_records(const NamedKind* kind, engine::Engine* engine,
                                         Principal who, net::Request request) {
  ERRAND_CO_TRY(auto page, page_params(request));
  NamedRecords& records = engine->records().*kind->records;
  ERRAND_CO_TRY(auto found,
                co_await records.list(who.workspace, std::move(page.after), page.limit));
  ERRAND_CO_TRY(auto items, co_await shown_all(kind, std::move(found.records)));
  co_return page_response(kind->nouns, std::move(items), found.next);
}

Task<Result<net::Response>> get_record(const NamedKind* kind, engine::Engine* engine, Principal who,
                                       net::Request request) {
  ERRAND_CO_TRY(auto id, record_of_path(request, kind->noun));
  ERRAND_CO_TRY(auto version, integer_param(request, query::kVersion));
  NamedRecords& records = engine->records().*kind->records;
  Result<NamedRecord> record = Error(ErrorCode::internal, "not read");
  if (version == 0) {
    record = co_await records.find(who.workspace, std::move(id));
  } else {
    record = co_await records.find_version(who.workspace, std::move(id), version);
  }
  ERRAND_CO_CHECK(record);
  co_return response_of(*kind, 200, *record);
}

Task<Result<net::Response>> list_record_versions(const NamedKind* kind, engine::Engine* engine,
                                                 Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, record_of_path(request, kind->noun));
  NamedRecords& records = engine->records().*kind->records;
  ERRAND_CO_TRY(auto versions, co_await records.versions(who.workspace, std::move(id)));
  ERRAND_CO_TRY(auto items, co_await shown_all(kind, std::move(versions)));
  co_return page_response("versions", std::move(items), "");
}

Task<Result<net::Response>> put_record(const NamedKind* kind, engine::Engine* engine, Principal who,
                                       net::Request request) {
  ERRAND_CO_TRY(auto id, record_of_path(request, kind->noun));
  ERRAND_CO_TRY(auto wanted, precondition_of(request));
  NamedRecords& records = engine->records().*kind->records;
  auto known = co_await records.find(who.workspace, id);
  if (!known && known.error().code() != ErrorCode::not_found) co_return std::move(known).error();
  if (!known && wanted.must_exist) co_return must_exist_error();
  ERRAND_CO_TRY(auto made,
                co_await kind->read(engine, &request, who.workspace, known ? known->name : id));
  ERRAND_CO_TRY(auto saved, co_await records.put(who.workspace, std::move(id), std::move(made.name),
                                                 std::move(made.body), wanted.version));
  co_return response_of(*kind, saved.is_new ? 201 : 200, saved.record);
}

Task<Result<net::Response>> delete_record(const NamedKind* kind, engine::Engine* engine,
                                          Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, record_of_path(request, kind->noun));
  ERRAND_CO_TRY(auto wanted, precondition_of(request));
  NamedRecords& records = engine->records().*kind->records;
  ERRAND_CO_CHECK(co_await records.remove(who.workspace, std::move(id), wanted.version));
  co_return json_response(204, {});
}

}  // namespace errand::server
