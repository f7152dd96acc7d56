"""Two workspaces, of which one must not learn anything about the other."""

from support.http import Response

OWNER_KEY = "mantyx_" + "a" * 64
STRANGER_KEY = "mantyx_" + "b" * 64
WORKSPACES = {"workspaces": [{"slug": "acme", "apiKeys": [OWNER_KEY]},
                             {"slug": "other", "apiKeys": [STRANGER_KEY]}]}
REFUSALS = (401, 403, 404)


def changed(text: str) -> str:
    """An id of the same form that nobody has."""
    return text[:-4] + ("0000" if not text.endswith("0000") else "1111")


def shown(answer: Response, ids: dict[str, str]) -> tuple:
    """All that a caller sees of an answer, with names in place of the ids that it sent itself."""
    text = answer.body.decode()
    for name, value in ids.items():
        text = text.replace(value, f"{{{name}}}")
    headers = {name: value for name, value in answer.headers.items()
               if name not in ("date", "x-request-id", "content-length")}
    return answer.status, headers, text
