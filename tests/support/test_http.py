import unittest

from support.http import ChunkReader, Frame, FrameReader, parse_head


class ChunkReaderTest(unittest.TestCase):
    CODED = b"5\r\nhello\r\n6;x=1\r\n world\r\n0\r\n\r\n"

    def test_a_body_comes_out_whole_however_it_is_cut(self):
        for size in range(1, len(self.CODED) + 1):
            with self.subTest(size=size):
                reader = ChunkReader()
                pieces = [self.CODED[at : at + size] for at in range(0, len(self.CODED), size)]
                self.assertEqual(b"".join(map(reader.feed, pieces)), b"hello world")
                self.assertTrue(reader.done)

    def test_a_cut_body_is_not_done(self):
        reader = ChunkReader()
        self.assertEqual(reader.feed(self.CODED[:12]), b"hello")
        self.assertFalse(reader.done)


class FrameReaderTest(unittest.TestCase):
    BYTES = b'id: 1\nevent: a\ndata: {"x":1}\n\n: keep-alive\n\nid: 2\nevent: b\ndata: {}\n\n'
    FRAMES = [
        Frame("1", "a", b'{"x":1}', b'id: 1\nevent: a\ndata: {"x":1}\n\n'),
        Frame("2", "b", b"{}", b"id: 2\nevent: b\ndata: {}\n\n"),
    ]

    def test_frames_come_out_whole_however_they_are_cut(self):
        for size in range(1, len(self.BYTES) + 1):
            with self.subTest(size=size):
                reader = FrameReader()
                frames = []
                for at in range(0, len(self.BYTES), size):
                    frames += reader.feed(self.BYTES[at : at + size])
                self.assertEqual(frames, self.FRAMES)
                self.assertEqual(reader.comments, 1)

    def test_half_a_frame_stays_pending(self):
        reader = FrameReader()
        self.assertEqual(reader.feed(b"id: 1\nevent: a\n"), [])
        self.assertEqual(reader.pending, b"id: 1\nevent: a\n")


class ParseHeadTest(unittest.TestCase):
    def test_a_head_is_read_once_it_is_complete(self):
        self.assertIsNone(parse_head(b"HTTP/1.1 200 OK\r\nA: b\r\n"))
        head = parse_head(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nrest")
        self.assertEqual((head.status, head.headers, head.rest, head.is_chunked),
                         (200, {"transfer-encoding": "chunked"}, b"rest", True))


if __name__ == "__main__":
    unittest.main()
