#include "store/sqlite/rows.hpp"

namespace errand::sqlite {

RunRow read_run(const Rows& rows) {
  return {.id = rows.id<RunId>(1),
          .workspace = rows.id<WorkspaceSlug>(0),
          .status = static_cast<RunStatus>(rows.integer(2)),
          .name = rows.text(9),
          .model_id = rows.text(10),
          .metadata = rows.text(11),
          .created_at = rows.time(7),
          .updated_at = rows.time(8),
          .last_seq = rows.integer(4),
          .segments = static_cast<std::int32_t>(rows.integer(5)),
          .epoch = rows.integer(6)};
}

Result<std::vector<Mailbox>> read_mailboxes(Statement& mail_of_run, const RunId& run) {
  std::vector<Mailbox> boxes;
  Rows rows = mail_of_run.query(run);
  for (;;) {
    ERRAND_TRY(bool more, rows.next());
    if (!more) return boxes;
    boxes.push_back({.run = run,
                     .slot = rows.text(1),
                     .kind = static_cast<MailKind>(rows.integer(2)),
                     .name = rows.text(3),
                     .opened_at = rows.time(4),
                     .deadline_at = rows.time(5),
                     .filled = rows.integer(6) != 0,
                     .body = rows.text(7)});
  }
}

}  // namespace errand::sqlite
