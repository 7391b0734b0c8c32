"""Reads an Insanity from a file with Apache Thrift's Python library, and prints what is in it."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "gen-py"))

from thrift.protocol.TBinaryProtocol import TBinaryProtocol, TBinaryProtocolAccelerated
from thrift.transport.TTransport import TMemoryBuffer

from ThriftTest.ttypes import Insanity

with open(sys.argv[1], "rb") as file:
    wire = file.read()
for protocol in TBinaryProtocol, TBinaryProtocolAccelerated:
    buffer = TMemoryBuffer(wire)
    v = Insanity.read(protocol(buffer)) or Insanity()
    print(len(v.userMap), sum(v.userMap.values()), len(v.xtructs), len(wire) - buffer.cstringio_buf.tell())
    for x in v.xtructs:
        print(x.string_thing, x.byte_thing, x.i32_thing, x.i64_thing)
