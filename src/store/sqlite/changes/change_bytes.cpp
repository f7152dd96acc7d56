#include "store/sqlite/changes/change_bytes.hpp"

namespace errand::sqlite {
namespace {

std::size_t bytes_of(const Segment& segment) {
  return segment.journal.size() + segment.events.size();
}

std::size_t bytes_of(const std::vector<Mailbox>& boxes) {
  std::size_t bytes = 0;
  for (const Mailbox& box : boxes) bytes += box.request.size() + box.body.size();
  return bytes;
}

std::size_t bytes_of(const std::vector<RunBlob>& blobs) {
  std::size_t bytes = 0;
  for (const RunBlob& blob : blobs) bytes += blob.bytes ? blob.bytes->size() : 0;
  return bytes;
}

std::size_t bytes_of(const Effects& effects) {
  std::size_t bytes = bytes_of(effects.open) + bytes_of(effects.blobs);
  for (const std::string& entry : effects.history) bytes += entry.size();
  return bytes;
}

}  // namespace

std::size_t bytes_of(const NewRun& run) {
  return run.row.metadata.size() + bytes_of(run.first) + bytes_of(run.effects.open) +
         bytes_of(run.effects.blobs);
}

std::size_t bytes_of(const Commit& commit) {
  return bytes_of(*commit.segment) + bytes_of(commit.effects);
}

std::size_t bytes_of(const Mail& mail) {
  return mail.body.size() + bytes_of(mail.effects.blobs);
}

std::size_t bytes_of(const NewSession& session) {
  return session.row.spec.size() + session.row.metadata.size();
}

std::size_t bytes_of(const std::vector<RecordChange>& changes) {
  std::size_t bytes = 0;
  for (const RecordChange& change : changes) bytes += change.body ? change.body->size() : 0;
  return bytes;
}

}  // namespace errand::sqlite
