#include "server/routes/named_record_routes.hpp"

#include <utility>
#include <vector>

#include "async/read_aside.hpp"
#include "server/openapi/query.hpp"
#include "server/request_body.hpp"
#include "server/routes/record_answer.hpp"

namespace errand::server {
namespace {

// A record, made on the pool if it is long. `kind` outlives the task.
Task<Result<net::Response>> response_of(const NamedKind* kind, engine::Engine* engine, int status,
                                        NamedRecord record) {
  BlockingPool* pool = record.body.size() > kBytesInABreath ? engine->pool() : nullptr;
  auto make = [kind, status, record = std::move(record)]() -> Result<net::Response> {
    ERRAND_TRY(auto body, kind->shown(record));
    return record_response(status, body, record.version);
  };
  auto made = co_await run_aside(pool, std::move(make));
  co_return made;
}

// Writes a page of records, on the pool if it is long. `kind` outlives the task.
Task<Result<net::Response>> page_of(const NamedKind* kind, engine::Engine* engine,
                                    std::string_view nouns, NamedRecordPage page) {
  std::size_t bytes = 0;
  for (const NamedRecord& record : page.records) bytes += record.body.size();
  BlockingPool* pool = bytes > kBytesInABreath ? engine->pool() : nullptr;
  auto make = [kind, nouns, page = std::move(page)]() -> Result<net::Response> {
    json::Array items;
    for (const NamedRecord& record : page.records) {
      ERRAND_TRY(auto item, kind->shown(record));
      items.push_back(std::move(item));
    }
    return page_response(nouns, std::move(items), page.next);
  };
  auto made = co_await run_aside(pool, std::move(make));
  co_return made;
}

}  // namespace

Task<Result<net::Response>> create_record(const NamedKind* kind, engine::Engine* engine,
                                          Principal who, net::Request request) {
  ERRAND_CO_TRY(auto made, co_await kind->read(engine, &request, who.workspace, ""));
  ERRAND_CO_TRY(auto idempotency, co_await idempotency_of(&request, engine->pool()));
  NamedRecords& records = engine->records().*kind->records;
  ERRAND_CO_TRY(auto saved, co_await records.create(who.workspace, std::move(made.name),
                                                    std::move(made.body), std::move(idempotency)));
  co_return co_await response_of(kind, engine, 201, std::move(saved.record));
}

Task<Result<net::Response>> list_records(const NamedKind* kind, engine::Engine* engine,
                                         Principal who, net::Request request) {
  ERRAND_CO_TRY(auto page, page_params(request));
  NamedRecords& records = engine->records().*kind->records;
  ERRAND_CO_TRY(auto found,
                co_await records.list(who.workspace, std::move(page.after), page.limit));
  auto shown = co_await page_of(kind, engine, kind->nouns, std::move(found));
  co_return shown;
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
  co_return co_await response_of(kind, engine, 200, std::move(*record));
}

Task<Result<net::Response>> list_record_versions(const NamedKind* kind, engine::Engine* engine,
                                                 Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, record_of_path(request, kind->noun));
  NamedRecords& records = engine->records().*kind->records;
  ERRAND_CO_TRY(auto versions, co_await records.versions(who.workspace, std::move(id)));
  auto shown = co_await page_of(kind, engine, "versions", {.records = std::move(versions)});
  co_return shown;
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
  co_return co_await response_of(kind, engine, saved.is_new ? 201 : 200, std::move(saved.record));
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
