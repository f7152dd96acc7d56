#pragma once

#include <memory>
#include <string>

#include "llm/provider.hpp"

namespace errand::llm {

// The tool through which a model hands in an answer that follows the output schema. Clients never
// see this tool. Its name is "final_report", with underscores appended until no tool of the request
// has the same name.
ToolDecl answer_tool(const TurnRequest& request);

// Turns a call of the answer tool into the text of the answer. Text and blocks are held back until
// a call of another tool closes or the turn ends, because a handed-in answer replaces them: the
// answer is the whole text, and the turn has no blocks. An answer handed in next to calls of other
// tools comes too early and is dropped; the model is asked again with the results of those calls.
std::unique_ptr<StreamDecoder> with_answer_tool(std::unique_ptr<StreamDecoder> inner,
                                                std::string name);

// The system prompt, followed by the instruction to answer with JSON of the output schema.
std::string prompt_with_schema(const TurnRequest& request);

}  // namespace errand::llm
