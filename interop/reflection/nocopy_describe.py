"""Lets a server on Apache Thrift's Python library return its IDL to clients that ask.

    from nocopy_describe import DescribeProcessor

    bundle = Path("shop.bundle").read_bytes()  # made by: nocopy bundle shop.thrift -o shop.bundle
    processor = DescribeProcessor(Shop.Processor(handler), bundle)

Clients are for example the commands "nocopy describe" and "nocopy call". Whoever can connect to
the server can then read the IDL, with its comments. docs/reflection.md specifies the method.
"""

from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.protocol.TProtocol import TProtocolException
from thrift.Thrift import TMessageType, TProcessor, TType
from thrift.transport.TTransport import TMemoryBuffer

METHOD = "nocopy.describe"


class DescribeProcessor(TProcessor):
    """Answers METHOD with a bundle, and leaves all other calls to another processor.

    It goes around all other processors, also around a TMultiplexedProcessor.
    """

    def __init__(self, processor, bundle):
        """Raises an exception if the bytes are no bundle."""
        self._processor = processor
        self._result = b"\x0c\0\0" + bundle + b"\0"  # struct Result { 0: Description success }
        self._write_result(TBinaryProtocol(TMemoryBuffer()))

    def on_message_begin(self, func):
        self._processor.on_message_begin(func)

    def process(self, iprot, oprot):
        begin = iprot.readMessageBegin()
        if begin[0] != METHOD:

            def once():
                del iprot.readMessageBegin  # the method of the class is there again
                return begin

            iprot.readMessageBegin = once
            return self._processor.process(iprot, oprot)
        iprot.skip(TType.STRUCT)
        iprot.readMessageEnd()
        oprot.writeMessageBegin(METHOD, TMessageType.REPLY, begin[2])
        self._write_result(oprot)
        oprot.writeMessageEnd()
        oprot.trans.flush()
        return True

    def _write_result(self, oprot):
        buffer = TMemoryBuffer(self._result)
        _copy(TBinaryProtocol(buffer), oprot, TType.STRUCT)
        if buffer.read(1):
            raise TProtocolException(
                TProtocolException.INVALID_DATA, "the bundle has more than one description"
            )


def _copy(in_, out, kind):
    """Writes a value that it reads in Binary, where the ends of values have no bytes."""
    if kind == TType.STRING:
        out.writeString(in_.readString())
    elif kind == TType.LIST:
        kind, size = in_.readListBegin()
        out.writeListBegin(kind, size)
        for _ in range(size):
            _copy(in_, out, kind)
        out.writeListEnd()
    elif kind == TType.STRUCT:
        out.writeStructBegin("")
        while True:
            _, kind, field = in_.readFieldBegin()
            if kind == TType.STOP:
                break
            out.writeFieldBegin("", kind, field)
            _copy(in_, out, kind)
            out.writeFieldEnd()
        out.writeFieldStop()
        out.writeStructEnd()
    else:
        raise TProtocolException(TProtocolException.INVALID_DATA, f"a bundle has no type {kind}")
