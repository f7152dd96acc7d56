#include "store/sqlite/changes/rows.hpp"

namespace errand::sqlite {
namespace {

template <class T>
Result<std::vector<T>> read_all(Rows& rows, T (*read)(const Rows&)) {
  std::vector<T> all;
  for (;;) {
    ERRAND_TRY(bool more, rows.next());
    if (!more) return all;
    all.push_back(read(rows));
  }
}

// Reads until the rows have `bytes_max` bytes, and then one more row, which shows that there is
// another page.
template <class Read, class Measure>
auto read_page(Rows& rows, Read read, std::size_t bytes_max, Measure measure)
    -> Result<std::vector<decltype(read(rows))>> {
  std::vector<decltype(read(rows))> out;
  for (std::size_t bytes = 0;;) {
    ERRAND_TRY(bool found, rows.next());
    if (!found) return out;
    out.push_back(read(rows));
    if (bytes >= bytes_max) return out;
    bytes += measure(out.back());
  }
}

}  // namespace

StoreTime store_time(const Rows& rows, int column) {
  return StoreTime(milliseconds(rows.integer(column)));
}

RunStatus read_status(const Rows& rows) {
  return static_cast<RunStatus>(rows.integer(2));
}

RunRow read_run(const Rows& rows) {
  return {.id = rows.id<RunId>(1),
          .workspace = rows.id<WorkspaceSlug>(0),
          .status = read_status(rows),
          .name = rows.text(9),
          .model_id = rows.text(10),
          .metadata = rows.text(11),
          .created_at = rows.time(7),
          .updated_at = rows.time(8),
          .last_seq = rows.integer(4),
          .ends_by = store_time(rows, 12),
          .segments = static_cast<std::int32_t>(rows.integer(5)),
          .epoch = rows.integer(6),
          .format = static_cast<int>(rows.integer(16)),
          .session = rows.id<SessionId>(17)};
}

Result<std::vector<RunRow>> read_runs(Rows rows) {
  return read_all(rows, read_run);
}

Mailbox read_mailbox(const Rows& rows) {
  return {.run = rows.id<RunId>(0),
          .slot = rows.text(1),
          .kind = static_cast<MailKind>(rows.integer(3)),
          .name = rows.text(4),
          .request = rows.text(11),
          .offer_again = rows.integer(5) != 0,
          .opened_at = rows.time(6),
          .deadline = store_time(rows, 7),
          .filled = rows.integer(8) != 0,
          .body = rows.text(12),
          .claim_id = rows.text(9),
          .claimed_until = store_time(rows, 10)};
}

Result<std::vector<Mailbox>> read_mailboxes(Rows rows, std::size_t bytes_max) {
  return read_page(rows, read_mailbox, bytes_max,
                   [](const Mailbox& box) { return box.request.size(); });
}

Record read_record(const Rows& rows) {
  return {.key = {.workspace = rows.id<WorkspaceSlug>(0), .kind = rows.text(1), .id = rows.text(2)},
          .version = rows.integer(3),
          .created_at = rows.time(4),
          .updated_at = rows.time(5),
          .body = rows.text(6)};
}

Result<std::vector<Record>> read_records(Rows rows, std::size_t bytes_max) {
  return read_page(rows, read_record, bytes_max,
                   [](const Record& record) { return record.body.size(); });
}

ApiKeyRow read_api_key(const Rows& rows) {
  ApiKeyRow key{.id = rows.id<KeyId>(0),
                .workspace = rows.id<WorkspaceSlug>(1),
                .name = rows.text(2),
                .hash = rows.text(3),
                .prefix = rows.text(4),
                .created_at = rows.time(5),
                .revoked_at = {}};
  if (!rows.is_null(6)) key.revoked_at = rows.time(6);
  return key;
}

Result<std::vector<ApiKeyRow>> read_api_keys(Rows rows) {
  return read_all(rows, read_api_key);
}

}  // namespace errand::sqlite
