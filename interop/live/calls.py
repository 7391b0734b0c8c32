"""Compares two recordings: calls.py ONE OTHER

The calls of each method must be as many, with the same arguments and outcomes in the same order.
"""
import collections
import json
import sys


def calls(path):
    by_method = collections.defaultdict(list)
    with open(path) as lines:
        for line in lines:
            call = json.loads(line)
            outcome = {k: call[k] for k in ("args", "result", "exception", "error") if k in call}
            by_method[call["method"]].append(json.dumps(outcome, sort_keys=True))
    return by_method


one, other = calls(sys.argv[1]), calls(sys.argv[2])
for method in sorted({*one, *other}):
    if one[method] != other[method]:
        sys.exit(f"{method}: {len(one[method])} and {len(other[method])} calls: {one[method][:2]} {other[method][:2]}")
print(sum(map(len, one.values())), "calls")
