#!/usr/bin/env bash
# HiveServer2, as hive/hive.sh starts it. The referee is PyHive, which uses Apache's library.
system=hiveserver2 version="HiveServer2 3.1.3, SASL PLAIN"
. "$(dirname "$0")/common.sh"
. "$here/sql.sh"
program=$root/hive/hive.sh home=$sqlcache/hive-3.1.3 auth=NONE
flags=(-protocol binary -sasl PLAIN -user tester -password secret)
main "$@"
