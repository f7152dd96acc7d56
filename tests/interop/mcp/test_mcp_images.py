"""Images that tools of an MCP server give back: models that see get them as images, in the words of
each vendor, and others get a sentence."""

import base64
import json

from support.fake_vendor import call, say, turn
from support.mcp_probe import ensure_servers, package
from support.node import NODE
from support.vendor_case import FORMATS, VendorCase, messages_of

TOOL = "every_get-tiny-image"
REFS = [{"kind": "mcp", "name": "every", "url": "config:every"}]
PNG = b"\x89PNG"


def images_of(name: str, part) -> list[str]:
    """The bytes of images in a message, as base64, wherever this format has them."""
    if isinstance(part, list):
        return [found for one in part for found in images_of(name, one)]
    if not isinstance(part, dict):
        return []
    url = {"responses": part.get("image_url") if part.get("type") == "input_image" else None,
           "chat": (part.get("image_url") or {}).get("url") if name == "chat" else None}.get(name)
    if url:
        return [url.removeprefix("data:image/png;base64,")]
    if name == "anthropic" and part.get("type") == "image":
        return [part["source"]["data"]]
    if name == "gemini" and "inlineData" in part:
        return [part["inlineData"]["data"]]
    return images_of(name, list(part.values()))


class McpImagesTest(VendorCase):
    @classmethod
    def setUpClass(cls):
        ensure_servers()

    def second_question(self, name: str, **settings) -> list[dict]:
        """What the model is told after the tool has given an image."""
        every = {"command": str(NODE), "args": [package("server-everything"), "stdio"]}
        server, vendors = self.start_vendors(
            turn(call(TOOL)), turn(say("Seen.")), formats=(name,),
            config={"mcpServers": {"every": every}}, **settings)
        story = self.play(server, name, tools=REFS)
        self.assertEqual(story.end[:2], ("result", "success"), story.end)
        self.assertEqual(vendors[name].refusals, [])
        self.check_data(server)
        return messages_of(name, vendors[name].bodies[1])

    def test_a_model_that_sees_gets_the_image(self):
        for name in FORMATS:
            with self.subTest(name):
                asked = self.second_question(name)
                [image] = images_of(name, asked)
                self.assertTrue(base64.b64decode(image).startswith(PNG))
                self.assertIn("the image you requested", json.dumps(asked))

    def test_a_model_that_does_not_see_gets_a_sentence(self):
        for name in FORMATS:
            with self.subTest(name):
                asked = self.second_question(name, images=False)
                self.assertEqual(images_of(name, asked), [])
                self.assertIn("this model does not see images", json.dumps(asked))


if __name__ == "__main__":
    import unittest
    unittest.main()
