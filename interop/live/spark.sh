#!/usr/bin/env bash
# Spark's Thrift server, as hive/spark.sh starts it. The referee is PyHive.
system=spark version="Spark Thrift server 3.5.5, SASL PLAIN"
. "$(dirname "$0")/common.sh"
. "$here/sql.sh"
program=$root/hive/spark.sh options=-sasl home=$sqlcache/spark-3.5.5 auth=NONE
flags=(-protocol binary -sasl PLAIN -user tester -password secret)
main "$@"
