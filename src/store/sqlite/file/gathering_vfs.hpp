#pragma once

namespace errand::sqlite {

// The name of a VFS for sqlite3_open_v2 that is the system's own, save that a commit's writes to
// the write-ahead log go to the kernel in one call. SQLite itself makes two calls for each page.
//
// It is for connections that sync each commit: the gathered writes go out before a sync, and before
// anything that would miss it.
const char* gathering_vfs();

}  // namespace errand::sqlite
