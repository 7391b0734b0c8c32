#!/usr/bin/env bash
# HiveServer2 over HTTP, as hive/hive.sh starts it. The referee is PyHive.
system=hiveserver2-http version="HiveServer2 3.1.3, HTTP"
. "$(dirname "$0")/common.sh"
. "$here/sql.sh"
program=$root/hive/hive.sh options=-http home=$sqlcache/hive-3.1.3 auth=HTTP
address() { echo "http://127.0.0.1:$port/cliservice"; }
flags=(-protocol binary -H "Authorization: Basic $(printf tester:secret | base64)")
main "$@"
