#pragma once

#include <memory>
#include <string>

#include "llm/provider.hpp"

namespace errand::llm {

// The tool by which a model hands in an answer that follows the output schema. Clients never see
// it. Its name is "final_report", with underscores behind it while one of the request's tools has
// that name.
ToolDecl answer_tool(const TurnRequest& request);

// Makes the call of that tool into the text of the answer. Text and blocks are held back until a
// call of another tool closes or the turn ends, because a handed-in answer replaces them: it is the
// whole text, and the turn has no blocks. An answer handed in beside calls of other tools comes too
// early and is dropped; the model is asked again with their results.
std::unique_ptr<StreamDecoder> with_answer_tool(std::unique_ptr<StreamDecoder> inner,
                                                std::string name);

// The system prompt, and the demand to answer with JSON of the schema.
std::string prompt_with_schema(const TurnRequest& request);

}  // namespace errand::llm
