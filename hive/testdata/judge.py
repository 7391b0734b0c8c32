"""Runs statements with PyHive, and prints their rows as JSON: judge.py HOST PORT AUTH [sums] < STATEMENTS

AUTH is NOSASL, NONE or HTTP. Each line of the input is a statement. The output has a line for each row,
and an empty line after each statement. Binaries are in hexadecimal, decimals, times and dates text.
With sums there is one line for all rows: their number, the sums of the first two columns, and of the
third, a text, the bytes and the CRC-32.
"""
import datetime
import decimal
import json
import sys
import zlib

from pyhive import hive


def plain(v):
    if isinstance(v, bytes):
        return v.hex()
    if isinstance(v, decimal.Decimal):
        return format(v, "f")
    if isinstance(v, datetime.datetime):
        return v.strftime("%Y-%m-%d %H:%M:%S.%f")
    if isinstance(v, datetime.date):
        return v.isoformat()
    if isinstance(v, float) and (v != v or v in (float("inf"), float("-inf"))):
        return repr(v)
    return v


host, port, auth = sys.argv[1:4]
settings = {
    "NOSASL": {"auth": "NOSASL"},
    "NONE": {"auth": "NONE", "username": "tester"},
    "HTTP": {"scheme": "http", "username": "tester", "password": "secret"},
}[auth]
cursor = hive.connect(host=host, port=int(port), **settings).cursor()
cursor.arraysize = 10000
for line in sys.stdin:
    cursor.execute(line.rstrip("\n"))
    if sys.argv[4:] == ["sums"]:
        count, ints, floats, size, crc = 0, 0, 0.0, 0, 0
        while rows := cursor.fetchmany(10000):
            for i, f, text in rows:
                text = text.encode()
                count, ints, floats, size, crc = count + 1, ints + i, floats + f, size + len(text), zlib.crc32(text, crc)
        print(json.dumps([count, ints, floats, size, crc]))
    while rows := cursor.fetchmany(10000):
        for row in rows:
            print(json.dumps([plain(v) for v in row], ensure_ascii=False))
    print()
