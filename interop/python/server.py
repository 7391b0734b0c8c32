"""The test service on Apache Thrift's Python library. Prints the port that it listens on; port 0 takes a free one."""

import time

from connection import parse_args
from nocopy_describe import DescribeProcessor

from thrift.server.THttpServer import THttpServer
from thrift.server.TServer import TThreadedServer
from thrift.Thrift import TException
from thrift.TMultiplexedProcessor import TMultiplexedProcessor
from thrift.transport.TSocket import TServerSocket

from ThriftTest import SecondService, ThriftTest
from ThriftTest.ttypes import Insanity, Xception, Xception2, Xtruct


def echo(self, thing):
    return thing


class Handler:
    testString = testBool = testByte = testI32 = testI64 = testDouble = echo
    testBinary = testUuid = testStruct = testNest = echo
    testMap = testStringMap = testSet = testList = testEnum = testTypedef = echo

    def testVoid(self):
        pass

    def testMapMap(self, hello):
        return {-4: {i: i for i in range(-4, 0)}, 4: {i: i for i in range(1, 5)}}

    def testInsanity(self, argument):
        return {1: {2: argument, 3: argument}, 2: {6: Insanity()}}

    def testMulti(self, arg0, arg1, arg2, arg3, arg4, arg5):
        return Xtruct("Hello2", arg0, arg1, arg2)

    def testException(self, arg):
        if arg == "Xception":
            raise Xception(1001, arg)
        if arg == "TException":
            raise TException("This is a TException")

    def testMultiException(self, arg0, arg1):
        if arg0 == "Xception":
            raise Xception(1001, "This is an Xception")
        if arg0 == "Xception2":
            raise Xception2(2002, Xtruct("This is an Xception2"))
        return Xtruct(arg1)

    def testOneway(self, secondsToSleep):
        time.sleep(secondsToSleep)


class SecondHandler:
    def secondtestString(self, thing):
        return 'testString("' + thing + '")'


class PrintingSocket(TServerSocket):
    def listen(self):
        super().listen()
        address = self.handle.getsockname()
        print("listening on", address if self._unix_socket else address[1], flush=True)


def main():
    args = parse_args()
    processor = ThriftTest.Processor(Handler())
    if args.multiplexed:
        both = TMultiplexedProcessor()
        both.registerDefault(processor)
        both.registerProcessor("ThriftTest", processor)
        both.registerProcessor("SecondService", SecondService.Processor(SecondHandler()))
        processor = both
    if args.describe:
        with open(args.describe, "rb") as bundle:
            processor = DescribeProcessor(processor, bundle.read())
    if args.transport == "http":
        server = THttpServer(processor, (args.host, args.port), args.protocol_factory)
        print("listening on", server.httpd.server_address[1], flush=True)
        server.serve()
        return
    TThreadedServer(
        processor,
        PrintingSocket(args.host, args.port, args.domain_socket),
        args.transport_factory,
        args.protocol_factory,
        daemon=True,
    ).serve()


main()
