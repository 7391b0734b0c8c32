"""Judges the client and the proxy with hmsclient, against a real metastore; go run . -live calls it.

    judge.py create ADDRESS STATE   makes what the client then edits; STATE is a file for it
    judge.py edited ADDRESS STATE   is everything as created, but for the client's edits?
    judge.py proxy ADDRESS PROXY    are calls the same through the proxy, but for locations?

With "framed" at the end the metastore at ADDRESS wants frames. The proxy is called without, and with.
"""

import copy
import pickle
import sys

from hmsclient.genthrift.hive_metastore.ttypes import *
from hmsclient.hmsclient import INPUT_FORMAT, OUTPUT_FORMAT, SIMPLE_SERDE, HMSClient
from thrift.protocol import TBinaryProtocol
from thrift.Thrift import TApplicationException, TException, TMessageType
from thrift.transport import TSocket, TTransport

DB, PARTITIONS = "live", {"untouched": 60, "visits": 1100}
# Not a location, so that nobody may rewrite it
TEXT = "copied from s3://old/ in the spring"


def connect(address, framed=False):
    host, port = address.rsplit(":", 1)
    socket = TSocket.TSocket(host, int(port))
    socket.setTimeout(60_000)
    transport = (TTransport.TFramedTransport if framed else TTransport.TBufferedTransport)(socket)
    return HMSClient(TBinaryProtocol.TBinaryProtocol(transport))


def storage(location):
    return StorageDescriptor(
        cols=[FieldSchema("user", "string", "who"), FieldSchema("pages", "array<struct<url:string,ms:int>>", "")],
        location=location, inputFormat=INPUT_FORMAT, outputFormat=OUTPUT_FORMAT, compressed=False, numBuckets=4,
        serdeInfo=SerDeInfo("visits", SIMPLE_SERDE, {"serialization.format": "1", "path": location}),
        bucketCols=["user"], sortCols=[Order("user", 1)], parameters={"note": TEXT},
        skewedInfo=SkewedInfo(["user"], [["root"]], {}), storedAsSubDirectories=False)


def table(name, location, db=DB):
    keys = [FieldSchema("day", "string", ""), FieldSchema("hour", "int", "")]
    return Table(
        tableName=name, dbName=db, owner="judge", createTime=1_700_000_000, lastAccessTime=5, retention=7,
        sd=storage(location), partitionKeys=keys, parameters={"EXTERNAL": "TRUE", "comment": TEXT, "umlauts": "äöü"},
        tableType="EXTERNAL_TABLE")


def partition(name, location, day, hour, db=DB):
    return Partition(
        values=[day, str(hour)], dbName=db, tableName=name, createTime=1_700_000_000, lastAccessTime=3,
        sd=storage(f"{location}/day={day}/hour={hour}"), parameters={"numFiles": "3", "note": TEXT})


def everything(hms, db=DB):
    """All tables and partitions of a database."""
    tables = {name: hms.get_table(db, name) for name in hms.get_all_tables(db)}
    partitions = {name: {tuple(p.values): p for p in hms.get_partitions(db, name, -1)} for name in tables}
    return timeless(tables), timeless(partitions)


def timeless(v):
    """v without the times that the metastore itself sets when something is altered."""
    if isinstance(v, (list, tuple)):
        return [timeless(e) for e in v]
    if isinstance(v, dict):
        return {k: timeless(e) for k, e in v.items() if k != "transient_lastDdlTime"}
    if hasattr(v, "thrift_spec"):
        v = copy.copy(v)
        for name, e in vars(v).items():
            setattr(v, name, 0 if name == "createTime" else timeless(e))
    return v


def create(hms, state):
    if others := set(hms.get_all_databases()) - {"default", DB, "made", "spark"}:
        sys.exit(f"this is for an empty metastore, such as hive.sh starts: there is {others}")
    for name in set(hms.get_all_databases()) - {"default"}:
        hms.drop_database(name, True, True)
    hms.create_database(Database(DB, "for " + TEXT, "s3://old/live.db", {"note": TEXT}))
    for name, n in PARTITIONS.items():
        location = "s3://old/live.db/" + name
        hms.create_table(table(name, location))
        parts = [partition(name, location, f"2026-11-{1 + i // 24 % 30:02}-{i // 720}", i % 24) for i in range(n)]
        for i in range(0, len(parts), 200):
            hms.add_partitions(parts[i:i + 200])
    with open(state, "wb") as f:
        pickle.dump(everything(hms), f)


def edited(hms, state):
    with open(state, "rb") as f:
        tables, partitions = pickle.load(f)
    visits, parts = tables["visits"], partitions["visits"]
    visits.parameters.update({"edited": "ü", "comment": "new"})
    del visits.parameters["umlauts"]
    visits.sd.location = "s3://other/visits"
    first = parts["2026-11-01-0", "0"]
    first.parameters["edited"] = "ü"
    first.sd.location = "s3://other/first"
    first.parameters.update({"numFiles": "0", "totalSize": "0"})  # counted by the metastore, since the location has changed
    del parts["2026-11-01-0", "1"]
    have_tables, have_parts = everything(hms)
    for name, location in [("added/here", "s3://other/visits/day=added%2Fhere/hour=7"), ("there", "s3://other/there")]:
        added = have_parts["visits"].pop((name, "7"))
        if added.sd.location != location:
            sys.exit(f"a partition was added at {added.sd.location}, not {location}")
        want = copy.deepcopy(visits.sd)
        want.location = location
        check("the storage of an added partition", added.sd, want)
    for name in sorted(tables | have_tables):
        check("table " + name, have_tables[name], tables[name])
        check("the partitions of " + name, have_parts[name], partitions[name])


def check(what, have, want):
    if have != want:
        sys.exit(f"{what}:\n{str(have)[:3000]}\nbut not\n{str(want)[:3000]}")


def moved(v, old, new):
    """A copy of what a call takes or returns, with its locations in another place."""
    place = lambda s: new + s[len(old):] if s and (s + "/").startswith(old + "/") else s
    if isinstance(v, (list, tuple)):
        return type(v)(moved(e, old, new) for e in v)
    if isinstance(v, dict):
        return {k: moved(e, old, new) for k, e in v.items()}
    if hasattr(v, "thrift_spec"):
        v = copy.copy(v)
        for name, e in vars(v).items():
            if name in ("location", "locationUri", "rootPath"):
                e = place(e)
            elif name == "parameters" and isinstance(v, SerDeInfo) and "path" in (e or {}):
                e = {**e, "path": place(e["path"])}
            elif name == "skewedColValueLocationMaps" and e:
                e = {k: place(s) for k, s in e.items()}
            else:
                e = moved(e, old, new)
            setattr(v, name, e)
    return v


def call(hms, method, *args):
    """The result of a call, or its exception with the text that it came with."""
    try:
        return getattr(hms, method)(*args)
    except TApplicationException as e:
        return type(e).__name__, e.type, e.message
    except TException as e:
        return type(e).__name__, getattr(e, "message", None)


def proxy(direct, through, metastore, address, framed):
    shown = lambda v: moved(v, "s3://old", "s3://new")
    name = "2026-11-02-0"
    names = [f"day={name}/hour={h}" for h in range(24)]
    env = EnvironmentContext({"a": "b"})
    reads = [
        ("get_all_databases",), ("get_databases", "l*"), ("get_database", DB), ("get_database", "none"), 
        ("get_all_tables", DB), ("get_tables", DB, "*"), ("get_table_meta", "*", "*", []), ("get_table", DB, "visits"),
        ("get_table", DB, "untouched"), ("get_table", DB, "none"), ("get_table_objects_by_name", DB, ["untouched", "visits"]),
        ("get_fields", DB, "visits"), ("get_schema", DB, "visits"), ("get_schema_with_environment_context", DB, "visits", env),
        ("get_partitions", DB, "untouched", -1), ("get_partitions", DB, "visits", 7), ("get_partitions", DB, "none", 7),
        ("get_partition_names", DB, "untouched", -1), ("get_partition_names_ps", DB, "untouched", [name, ""], -1),
        ("get_partition", DB, "untouched", [name, "3"]), ("get_partition_with_auth", DB, "untouched", [name, "3"], "me", ["us"]),
        ("get_partition_by_name", DB, "untouched", names[4]), ("get_partition_by_name", DB, "untouched", "day=x/hour=1"),
        ("get_partitions_by_names", DB, "untouched", names), ("get_partitions_ps", DB, "untouched", [name], -1),
        ("get_partitions_ps_with_auth", DB, "untouched", [name, ""], -1, "me", ["us"]),
        ("get_partitions_with_auth", DB, "untouched", 30, "me", ["us"]), ("get_partitions_pspec", DB, "untouched", -1),
        ("get_partitions_by_filter", DB, "untouched", f"day = '{name}'", -1), ("get_part_specs_by_filter", DB, "untouched", f"day = '{name}'", -1),
        ("get_partitions_by_filter", DB, "untouched", "day = nonsense", -1), ("get_num_partitions_by_filter", DB, "untouched", ""),
        ("partition_name_to_vals", "a=%2F/b=2"), ("partition_name_to_spec", "a=1/b=2"), ("get_config_value", "hive.none", "x"),
        ("get_all_functions",), ("get_primary_keys", PrimaryKeysRequest(DB, "visits")), ("get_open_txns",), ("getVersion",), ("getName",),
        ("get_current_notificationEventId",), ("get_table_req", GetTableRequest(DB, "visits")),
        ("get_table_objects_by_name_req", GetTablesRequest(DB, ["visits"])), ("get_role_names",), ("get_delegation_token", "me", "you"), ("getMetaConf", "none"),
    ]
    for method, *args in reads:
        if not hasattr(direct, method):
            sys.exit("hmsclient has no method " + method)
        check(method, call(through, method, *args), shown(call(direct, method, *args)))

    # The same is written directly and through the proxy.
    results = writes(direct, "s3://old")
    written = everything(direct, "made")
    direct.drop_database("made", True, True)
    check("the results of writes", writes(through, "s3://new"), shown(results))
    check("what was written", everything(direct, "made"), written)
    check("what was written, as clients see it", everything(through, "made"), shown(written))
    if "s3://old/made.db/t/elsewhere" not in str(written):
        sys.exit("nothing was written")
    check("drop_database", call(through, "drop_database", "made", True, True), None)

    # A connection's settings are its own.
    key = "metastore.partition.name.whitelist.pattern"
    before = call(direct, "getMetaConf", key)
    check("setMetaConf", call(through, "setMetaConf", key, "[a-z]*"), None)
    check("getMetaConf on the same connection", call(through, "getMetaConf", key), "[a-z]*")
    with connect(address) as another:
        check("getMetaConf on another connection", call(another, "getMetaConf", key), before)
        with connect(metastore, framed) as also:
            for what in ["set_ugi", "set_ugi again, for which a metastore closes the connection"]:
                check(what, call(another, "set_ugi", "me", ["us"]), call(also, "set_ugi", "me", ["us"]))

    check("no_such_method", raw(through, "no_such_method"), raw(direct, "no_such_method"))
    print(f"hmsclient sees the same through the proxy: {len(reads)} calls that read, {len(results)} that write")


def writes(hms, place):
    """The results of calls that write, into a database of their own."""
    results = []
    write = lambda method, *args: results.append((method, timeless(call(hms, method, *args))))
    db, at = "made", place + "/made.db/t"
    env = EnvironmentContext({"a": "b"})
    write("create_database", Database(db, "", place + "/made.db", {"note": TEXT}))
    write("create_table_with_environment_context", table("t", at, db), env)
    write("create_table", table("t", at, db))  # there is one
    write("create_table", table("t2", place, db))
    write("add_partition", hms.get_table(db, "t"), ["d", "1"])
    write("append_partition", db, "t", ["d", "2"])
    write("append_partition_by_name", db, "t", "day=d/hour=3")
    write("add_partitions", [partition("t", at, "d", h, db) for h in range(4, 8)])
    write("add_partitions_req", AddPartitionsRequest(db, "t", [partition("t", at, "d", 8, db)], True))
    write("add_partition_with_environment_context", partition("t", at, "d", 9, db), env)
    changed = hms.get_partition(db, "t", ["d", "4"])
    changed.sd.location = at + "/elsewhere"
    write("alter_partition", db, "t", changed)
    changed.values = ["d", "5"]
    write("alter_partitions", db, "t", [changed])
    changed.values = ["d", "6"]
    write("alter_partition_with_environment_context", db, "t", changed, env)
    changed.values = ["renamed", "1"]
    write("rename_partition", db, "t", ["d", "7"], changed)
    write("alter_table", db, "t2", table("t2", place + "/t2", db))
    write("alter_table_with_cascade", db, "t2", table("t2", place + "/t3", db), True)
    write("drop_partition_by_name", db, "t", "day=d/hour=8", True)
    write("drop_partitions", db, "t", ["day=d/hour=9"], True)
    write("drop_partitions", db, "t", ["day=d/hour=9"], True)  # there is none any more
    return results


def raw(hms, method):
    """The exception that answers a method which hmsclient does not have."""
    p = hms._oprot
    p.writeMessageBegin(method, TMessageType.CALL, 99)
    p.writeStructBegin("args")
    p.writeFieldStop()
    p.writeStructEnd()
    p.writeMessageEnd()
    p.trans.flush()
    name, kind, seqid = hms._iprot.readMessageBegin()
    e = TApplicationException()
    e.read(hms._iprot)
    hms._iprot.readMessageEnd()
    return name, kind, seqid, e.type, e.message


if __name__ == "__main__":
    what, address, *rest = sys.argv[1:]
    framed = rest[-1] == "framed"
    with connect(address, framed) as hms:
        if what == "proxy":
            for client_framed in [False, True]:
                with connect(rest[0], client_framed) as through:
                    proxy(hms, through, address, rest[0], framed)
        else:
            {"create": create, "edited": edited}[what](hms, rest[0])
