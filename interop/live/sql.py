"""Runs statements by the Thrift calls of a SQL session: sql.py COMMAND... < STATEMENTS

COMMAND is nocopy call with -calls -, which makes a call for each line. The output is that of
hive/testdata/judge.py: a line of JSON for each row, an empty line after each statement.
"""
import base64
import json
import subprocess
import sys

tool = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def call(method, **req):
    print(json.dumps({"method": method, "args": {"req": req}}), file=tool.stdin, flush=True)
    result = json.loads(tool.stdout.readline())
    if result.get("status", {}).get("statusCode") not in ("SUCCESS_STATUS", "SUCCESS_WITH_INFO_STATUS"):
        sys.exit(f"{method}: {result}")
    return result


def values(column):
    (kind, v), = column.items()
    nulls = base64.b64decode(v["nulls"])
    missing = lambda i: i // 8 < len(nulls) and nulls[i // 8] >> i % 8 & 1
    if kind == "doubleVal":
        v["values"] = map(float, v["values"])
    return [None if missing(i) else e for i, e in enumerate(v["values"])]


session = call("OpenSession", client_protocol="HIVE_CLI_SERVICE_PROTOCOL_V10", username="tester")["sessionHandle"]
for line in sys.stdin:
    operation = call("ExecuteStatement", sessionHandle=session, statement=line.rstrip("\n"))["operationHandle"]
    while True:
        fetched = call("FetchResults", operationHandle=operation, orientation="FETCH_NEXT", maxRows=1000)
        rows = list(zip(*map(values, fetched["results"]["columns"])))
        if not rows:
            break
        for row in rows:
            print(json.dumps(row, ensure_ascii=False))
    call("CloseOperation", operationHandle=operation)
    print()
call("CloseSession", sessionHandle=session)
tool.stdin.close()
sys.exit(tool.wait())
