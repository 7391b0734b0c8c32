"""The referee for Zipkin's collector: thriftpy2 sends spans, and Zipkin's HTTP API shows them.

    zipkin.py send IDL PORT TRACE NUMBER   sends the same spans as zipkin/main.go, ten in a call
    zipkin.py calls IDL TRACE NUMBER       prints the arguments of these calls, as nocopy call reads them
    zipkin.py trace URL TRACE NUMBER       prints what Zipkin has, when it has so many spans

A trace's number is hexadecimal. In what is printed it is missing, so that traces can be compared.
"""
import base64
import json
import sys
import time
import urllib.error
import urllib.request


def spans(idl, trace, number):
    from thriftpy2.utils import serialize

    host = idl.Endpoint(ipv4=0x7F000001, port=8080, service_name="front")
    for i in range(1, number + 1):
        start = 1_796_000_000_000_000 + i * 1000
        at = [(start, "sr"), (start + 250, "cache miss"), (start + 500 + i, "ss")]
        yield base64.b64encode(serialize(idl.Span(
            trace_id=int(trace, 16), name=f"get ü {i}", id=i, parent_id=0x7FFF, debug=True, timestamp=start, duration=500 + i,
            annotations=[idl.Annotation(timestamp=t, value=v, host=host) for t, v in at],
            binary_annotations=[idl.BinaryAnnotation(
                key="http.path", value="/items/ü".encode(), annotation_type=idl.AnnotationType.STRING, host=host)],
        ))).decode()


def tens(values):
    values = list(values)
    return [values[i:i + 10] for i in range(0, len(values), 10)]


def load(path):
    import thriftpy2

    return thriftpy2.load(path, module_name="zipkin_thrift")


def send(path, port, trace, number):
    from thriftpy2.rpc import make_client
    from thriftpy2.transport import TFramedTransportFactory

    idl = load(path)
    client = make_client(idl.Scribe, "127.0.0.1", int(port), trans_factory=TFramedTransportFactory(), timeout=60_000)
    for texts in tens(spans(idl, trace, int(number))):
        code = client.Log([idl.LogEntry("zipkin", text) for text in texts])
        if code != idl.ResultCode.OK:
            sys.exit(f"Log returns {code}")


def calls(path, trace, number):
    for texts in tens(spans(load(path), trace, int(number))):
        print(json.dumps({"messages": [{"category": "zipkin", "message": text} for text in texts]}))


def trace(url, id, number):
    for _ in range(120):
        try:
            with urllib.request.urlopen(f"{url}/api/v2/trace/{id}", timeout=60) as reply:
                found = json.load(reply)
        except urllib.error.HTTPError as e:
            if e.code != 404:
                raise
            found = []
        if len({span["id"] for span in found}) >= int(number):
            break
        time.sleep(0.5)
    for span in found:
        del span["traceId"]
    for line in sorted(json.dumps(span, sort_keys=True, ensure_ascii=False) for span in found):
        print(line)


{"send": send, "calls": calls, "trace": trace}[sys.argv[1]](*sys.argv[2:])
