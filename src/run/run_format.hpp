#pragma once

namespace errand {

// The version of what journals and mail mean, pinned in a run when it is created. A program leaves
// a run of a newer format alone. Whatever older programs would not read, or would read as something
// else, raises the number; a run is given nothing that its own format does not have.
//   2  tools that the server calls have bindings
//   3  resumable calls keep notes; sources are asked for tools in the first step; fallback models
//      answer; agents call agents; calls ask the client and the model
constexpr int kRunFormat = 3;

}  // namespace errand
