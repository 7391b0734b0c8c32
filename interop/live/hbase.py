"""The referee of hbase.sh: HBase's client happybase, which uses thriftpy2.

    hbase.py make PORT     makes the table live
    hbase.py reads PORT    prints a line for each call: its method, arguments, and result, in the
                           JSON that nocopy call reads and prints

PORT may be followed by framed and compact.
"""
import base64
import json
import sys

import happybase
from Hbase_thrift import TScan  # which happybase loads
from thriftpy2.thrift import TType


def plain(v):
    """The JSON of nocopy for a value of thriftpy2."""
    if isinstance(v, bytes):
        return base64.b64encode(v).decode()
    if isinstance(v, list):
        return [plain(e) for e in v]
    if isinstance(v, dict):
        return {plain(k): plain(e) for k, e in v.items()}
    if hasattr(v, "thrift_spec"):
        texts = {field[1] for field in v.thrift_spec.values() if field[0] == TType.STRING}  # others are BINARY
        return {k: e.decode() if k in texts else plain(e) for k, e in vars(v).items() if e is not None}
    return v


def make(hbase):
    hbase.create_table("live", {"a": {"max_versions": 3}, "b": {"compression": "NONE"}})
    table = hbase.table("live")
    with table.batch() as batch:
        for i in range(500):
            batch.put(f"row-{i:03}".encode(), {b"a:number": str(i).encode(), b"a:text": f"text ü {i}".encode(), b"b:bytes": bytes([i % 256, 0, 255])})
    table.put(b"row-000", {b"a:text": b"newer"})
    table.put(b"\x00\xff", {b"b:": b""})
    if len(list(table.scan())) != 501:
        sys.exit("501 rows were written")


def reads(hbase):
    scan = {"startRow": b"row-100", "stopRow": b"row-200", "columns": [b"a:number", b"b"], "caching": 50}
    for method, args in [
        ("getTableNames", {}),
        ("isTableEnabled", {"tableName": b"live"}),
        ("getColumnDescriptors", {"tableName": b"live"}),
        ("getRow", {"tableName": b"live", "row": b"row-007", "attributes": {}}),
        ("getRow", {"tableName": b"live", "row": b"\x00\xff", "attributes": {}}),
        ("getRow", {"tableName": b"live", "row": b"ours", "attributes": {}}),
        ("getRow", {"tableName": b"live", "row": b"none", "attributes": {}}),
        ("getVer", {"tableName": b"live", "row": b"row-000", "column": b"a:text", "numVersions": 3, "attributes": {}}),
        ("getRowsWithColumns", {"tableName": b"live", "rows": [b"row-%03d" % i for i in range(0, 500, 3)], "columns": [b"a:text", b"b"], "attributes": {}}),
    ]:
        show(method, args, getattr(hbase.client, method)(*args.values()))
    scanner = hbase.client.scannerOpenWithScan(b"live", TScan(**scan), {})
    rows = hbase.client.scannerGetList(scanner, 1000)
    hbase.client.scannerClose(scanner)
    if len(rows) != 100:
        sys.exit(f"{len(rows)} rows of 100")
    names = [row.row for row in rows]
    show("getRows", {"tableName": b"live", "rows": names, "attributes": {}}, hbase.client.getRows(b"live", names, {}))


def show(method, args, result):
    print(method, json.dumps(plain(args)), json.dumps(plain(result), sort_keys=True), sep="\t")


what, port, transport, protocol = [*sys.argv[1:], "buffered", "binary"][:4]
connection = happybase.Connection("127.0.0.1", int(port), transport=transport, protocol=protocol, timeout=60_000)
{"make": make, "reads": reads}[what](connection)
