"""Calls every method of the test service with Apache Thrift's Python library and checks what comes back.

The exit code is 0 when all was right, else the sum of 1 for base types, 2 structs, 4 containers, 8 exceptions, and 64
when there was no connection.
"""

import math
import struct
import sys
import time
import traceback
import uuid

import puresasl.client
import thrift_sasl
from connection import parse_args

from thrift.protocol.TMultiplexedProtocol import TMultiplexedProtocol
from thrift.Thrift import TApplicationException
from thrift.transport.THttpClient import THttpClient
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TSaslClientTransport, TTransportException

from ThriftTest import SecondService, ThriftTest
from ThriftTest.ttypes import (
    Insanity,
    Numberz,
    Xception,
    Xception2,
    Xtruct,
    Xtruct2,
)

BASETYPES, STRUCTS, CONTAINERS, EXCEPTIONS, UNKNOWN = 1, 2, 4, 8, 64

TEXTS = ["", "Test", "パイソン, ქართული, 𐍈", 'quote: " \\ \b\f\n\r\t \x00', "x" * 100000]


class Suite:
    def __init__(self, client, second):
        self.client = client
        self.second = second
        self.failed = 0

    def check(self, bit, what, test):
        """Runs a test, which fails by an exception."""
        try:
            test()
        except Exception:
            print(what, "*** FAILURE ***")
            traceback.print_exc()
            self.failed |= bit
        else:
            print(what, "ok")

    def echoes(self, bit, method, *values):
        call = getattr(self.client, method)

        def test():
            for value in values:
                got = call(value)
                assert got == value and type(got) is type(value), (value, got)

        self.check(bit, method, test)

    def run(self):
        self.check(BASETYPES, "testVoid", self.client.testVoid)
        self.echoes(BASETYPES, "testString", *TEXTS)
        self.echoes(BASETYPES, "testBool", True, False)
        self.echoes(BASETYPES, "testByte", 0, 1, -1, 127, -128)
        self.echoes(BASETYPES, "testI32", 0, 1, -1, 2**31 - 1, -(2**31))
        self.echoes(BASETYPES, "testI64", 0, 1, -34359738368, 2**63 - 1, -(2**63))
        self.echoes(BASETYPES, "testDouble", 0.0, -5.235098235, 1e307, 5e-324, math.inf, -math.inf)
        self.check(BASETYPES, "testDouble, NaN and -0", self.odd_doubles)
        self.echoes(BASETYPES, "testBinary", b"", bytes(range(256)), bytes(1 << 20))
        self.echoes(BASETYPES, "testUuid", uuid.UUID("00112233-4455-6677-8899-aabbccddeeff"), uuid.uuid4())
        self.echoes(BASETYPES, "testTypedef", 0, 0xFFFFFFFFFFFFFF, -1)
        self.echoes(STRUCTS, "testEnum", Numberz.ONE, Numberz.FIVE, Numberz.EIGHT)
        zero = Xtruct("Zero", 1, -3, -5)
        self.echoes(STRUCTS, "testStruct", zero, Xtruct("", 0, 0, 0))
        self.echoes(STRUCTS, "testNest", Xtruct2(1, zero, 5))
        numbers = {0: 1, 1: 2, -1: -2, 2**31 - 1: -(2**31)}
        self.echoes(CONTAINERS, "testMap", numbers, {}, {i: -i for i in range(5000)})
        self.echoes(CONTAINERS, "testStringMap", {"a": "2", "b": "blah", "": ""}, {})
        self.echoes(CONTAINERS, "testSet", {8, 1, 42}, set())
        self.echoes(CONTAINERS, "testList", [1, 4, 9, -42], [], list(range(100000)))
        self.check(CONTAINERS, "testMapMap", self.map_map)
        self.check(STRUCTS, "testInsanity", self.insanity)
        self.check(STRUCTS, "testMulti", self.multi)
        self.check(EXCEPTIONS, "testException", self.exception)
        self.check(EXCEPTIONS, "testMultiException", self.multi_exception)
        self.check(BASETYPES, "testOneway", self.oneway)
        if self.second:
            self.check(BASETYPES, "secondtestString", self.second_service)

    def odd_doubles(self):
        for value in (-0.0, math.nan):
            got = self.client.testDouble(value)
            assert struct.pack("d", got) == struct.pack("d", value), (value, got)

    def map_map(self):
        want = {-4: {-4: -4, -3: -3, -2: -2, -1: -1}, 4: {4: 4, 3: 3, 2: 2, 1: 1}}
        got = self.client.testMapMap(42)
        assert got == want, got

    def insanity(self):
        argument = Insanity(
            {Numberz.FIVE: 5, Numberz.EIGHT: 8},
            [Xtruct("Goodbye4", 4, 4, 4), Xtruct("Hello2", 2, 2, 2)],
        )
        got = self.client.testInsanity(argument)
        assert got.keys() == {1, 2} and got[2].keys() == {Numberz.SIX}, got
        assert got[1] == {Numberz.TWO: argument, Numberz.THREE: argument}, got
        empty = got[2][Numberz.SIX]
        assert not empty.userMap and not empty.xtructs, empty

    def multi(self):
        want = Xtruct("Hello2", 74, 0xFF00FF, 0xFFFFFFFFD0D0)
        got = self.client.testMulti(74, 0xFF00FF, 0xFFFFFFFFD0D0, {0: "abc"}, Numberz.FIVE, 0xF0F0F0)
        assert got == want, got

    def raises(self, kind, call, *args):
        try:
            got = call(*args)
        except kind as e:
            return e
        raise AssertionError("no %s but %s" % (kind.__name__, got))

    def exception(self):
        self.client.testException("Safe")
        e = self.raises(Xception, self.client.testException, "Xception")
        assert (e.errorCode, e.message) == (1001, "Xception"), e
        e = self.raises(TApplicationException, self.client.testException, "TException")
        assert e.type == TApplicationException.INTERNAL_ERROR, e
        self.client.testException("success")

    def multi_exception(self):
        e = self.raises(Xception, self.client.testMultiException, "Xception", "ignore")
        assert (e.errorCode, e.message) == (1001, "This is an Xception"), e
        e = self.raises(Xception2, self.client.testMultiException, "Xception2", "ignore")
        assert (e.errorCode, e.struct_thing.string_thing) == (2002, "This is an Xception2"), e
        got = self.client.testMultiException("success", "foobar")
        assert got.string_thing == "foobar", got

    def oneway(self):
        start = time.monotonic()
        self.client.testOneway(1)
        took = time.monotonic() - start
        assert took < 0.5, took
        self.client.testVoid()

    def second_service(self):
        got = self.second.secondtestString("foobar")
        assert got == 'testString("foobar")', got


class PureClient:
    """What thrift_sasl needs of a mechanism, with pure-sasl."""

    def __init__(self, password):
        self.client = puresasl.client.SASLClient("localhost", "thrift", username="ada", password=password)

    def start(self, mechanism):
        if mechanism == "PLAIN":
            self.client.choose_mechanism([mechanism], allow_anonymous=False)
            return True, mechanism, self.client.process()
        return True, mechanism, b"x"

    def encode(self, data):
        return True, self.client.wrap(data)

    def getError(self):
        return "refused"


def sasl_transport(args):
    socket = TSocket(args.host, args.port)
    if args.client == "thrift_sasl":
        return thrift_sasl.TSaslClientTransport(lambda: PureClient(args.password), args.mechanism, socket)
    return TSaslClientTransport(
        socket, "localhost", "thrift", mechanism=args.mechanism, username="ada", password=args.password
    )


def main():
    args = parse_args()
    if args.transport == "http":
        transport = THttpClient(f"http://{args.host}:{args.port}/")
    elif args.transport == "sasl":
        transport = sasl_transport(args)
    else:
        transport = args.transport_factory.getTransport(TSocket(args.host, args.port))
    try:
        transport.open()
    except TTransportException as e:
        print("Connect failed:", e)
        return UNKNOWN
    protocol = second = args.protocol_factory.getProtocol(transport)
    if args.multiplexed:
        second = TMultiplexedProtocol(protocol, "SecondService")
        protocol = TMultiplexedProtocol(protocol, "ThriftTest")
    suite = Suite(
        ThriftTest.Client(protocol),
        SecondService.Client(second) if args.multiplexed else None,
    )
    suite.run()
    transport.close()
    return suite.failed


sys.exit(main())
