"""What client.py and server.py share: the command line, and protocols and transports by name."""

import argparse
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "gen-py"), os.path.join(here, os.pardir, "reflection")]

from thrift.protocol.TBinaryProtocol import (  # noqa: E402
    TBinaryProtocolAcceleratedFactory,
    TBinaryProtocolFactory,
)
from thrift.protocol.TCompactProtocol import (  # noqa: E402
    TCompactProtocolAcceleratedFactory,
    TCompactProtocolFactory,
)
from thrift.protocol.THeaderProtocol import THeaderProtocolFactory  # noqa: E402
from thrift.transport import TTransport  # noqa: E402
from thrift.transport.THeaderTransport import THeaderSubprotocolID  # noqa: E402

PROTOCOLS = {
    "binary": TBinaryProtocolFactory,
    "multi": TBinaryProtocolFactory,
    # The same bytes by the library's C extension.
    "accel": lambda: TBinaryProtocolAcceleratedFactory(fallback=False),
    "multia": lambda: TBinaryProtocolAcceleratedFactory(fallback=False),
    "compact": TCompactProtocolFactory,
    "multic": TCompactProtocolFactory,
    "accelc": lambda: TCompactProtocolAcceleratedFactory(fallback=False),
    "multiac": lambda: TCompactProtocolAcceleratedFactory(fallback=False),
}


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--host", default="localhost")
    p.add_argument("--port", type=int, default=9090)
    p.add_argument("--domain-socket", help="the path to listen on, instead of a port")
    p.add_argument("--transport", choices=("buffered", "framed", "header", "http", "sasl"), default="buffered")
    p.add_argument("--client", choices=("thrift", "thrift_sasl"), default="thrift", help="of logins by SASL")
    p.add_argument("--mechanism", default="PLAIN")
    p.add_argument("--password", default="secret")
    p.add_argument("--protocol", choices=sorted(PROTOCOLS), default="binary")
    p.add_argument("--describe", help="the bundle with which the server answers nocopy.describe")
    args = p.parse_args()
    args.multiplexed = args.protocol.startswith("multi")
    args.protocol_factory = PROTOCOLS[args.protocol]()
    if args.transport == "header":
        compact = args.protocol in ("compact", "multic")
        args.protocol_factory = THeaderProtocolFactory(
            default_protocol=THeaderSubprotocolID.COMPACT if compact else THeaderSubprotocolID.BINARY
        )
    args.transport_factory = (
        TTransport.TFramedTransportFactory()
        if args.transport == "framed"
        else TTransport.TBufferedTransportFactory()
    )
    return args
