"""The reference of the HTTP API in the guide is the one that the server's own document gives."""

import importlib.util
import os
import unittest

from support.documents import ROOT
from support.script import turn
from support.server import ServerCase

PAGE = ROOT / "docs" / "guide" / "http-api.md"
WRITER = ROOT / "tools" / "http_reference.py"


def writer():
    spec = importlib.util.spec_from_file_location("http_reference", WRITER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class HttpApiTest(ServerCase):
    maxDiff = None

    def test_the_page_is_fresh(self):
        server = self.start_server([turn("Hello.")])
        answer = server.client().request_at("GET", "/openapi.json")
        page = writer().render(answer.json())
        if os.environ.get("ERRAND_UPDATE"):
            PAGE.write_text(page)
        self.assertEqual(PAGE.read_text(), page,
                         "./dev test --update docs/test_http_api rewrites the page")


if __name__ == "__main__":
    unittest.main()
