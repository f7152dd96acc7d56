"""The official SDKs of the vendors, in one process of node for all tests of a class."""

import unittest

from support.node import VENDOR_SDKS, NodePeer, ensure_modules


class VendorSdkCase(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        ensure_modules(VENDOR_SDKS)
        cls.sdks = NodePeer("vendor-sdks/ask.mjs")
        cls.addClassCleanup(cls.sdks.close)
