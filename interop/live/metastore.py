"""Reads a metastore with hmsclient, as the referee of metastore.sh.

    metastore.py ADDRESS reads      prints a line for each call: its method, arguments, and result
    metastore.py has WANT GOT       fails if a value in the file WANT, JSON, is missing from GOT

The database live, which metastore -live has made, must be there.
"""
import base64
import json
import sys


def plain(v):
    """The JSON of nocopy for a value of Apache's library."""
    if isinstance(v, (list, tuple)):
        return [plain(e) for e in v]
    if isinstance(v, set):
        return sorted(plain(e) for e in v)
    if isinstance(v, dict):
        if all(isinstance(k, (str, int, bool)) for k in v):
            return {str(k): plain(e) for k, e in v.items()}
        return sorted([plain(k), plain(e)] for k, e in v.items())
    if isinstance(v, bytes):
        return base64.b64encode(v).decode()
    if hasattr(v, "thrift_spec"):
        # Apache's library gives fields that were not sent their defaults.
        default = {field[2]: field[4] for field in v.thrift_spec if field}
        return {k: plain(e) for k, e in vars(v).items() if e != default[k]}
    return v


def reads(address):
    from hmsclient.hmsclient import HMSClient
    from thrift.protocol.TBinaryProtocol import TBinaryProtocol
    from thrift.transport import TSocket, TTransport

    host, port = address.rsplit(":", 1)
    socket = TSocket.TSocket(host, int(port))
    socket.setTimeout(60_000)
    hms = HMSClient(TBinaryProtocol(TTransport.TBufferedTransport(socket)))
    table = {"dbname": "live", "tbl_name": "visits"}
    with hms:
        for method, args in [
            ("get_all_databases", {}),
            ("get_table", table),
            ("get_schema", {"db_name": "live", "table_name": "visits"}),
            ("get_fields", {"db_name": "live", "table_name": "untouched"}),
            ("get_all_tables", {"db_name": "live"}),
            ("get_partition_names", {"db_name": "live", "tbl_name": "untouched", "max_parts": -1}),
            ("get_partitions", {"db_name": "live", "tbl_name": "visits", "max_parts": -1}),
            ("partition_name_to_spec", {"part_name": "a=%2F/b=ü"}),
            ("get_open_txns", {}),
        ]:
            result = getattr(hms, method)(*args.values())
            print(method, json.dumps(args), json.dumps(plain(result)), sep="\t")


def missing(want, got, path="result"):
    """The path of the first value of want that got has not."""
    if isinstance(want, dict) and isinstance(got, dict):
        for k, v in want.items():
            if k not in got:
                return f"{path}.{k} is missing"
            if found := missing(v, got[k], f"{path}.{k}"):
                return found
        return None
    if isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        return next(filter(None, (missing(w, g, f"{path}[{i}]") for i, (w, g) in enumerate(zip(want, got)))), None)
    return None if want == got else f"{path} is {got!r}, not {want!r}"


if sys.argv[1] == "has":
    with open(sys.argv[2]) as want, open(sys.argv[3]) as got:
        sys.exit(missing(json.load(want), json.load(got)))
reads(sys.argv[1])
