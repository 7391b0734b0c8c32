#!/usr/bin/env bash
# Tries this library with real servers, one after the other, and prints a table:
#
#     ./live.sh [SYSTEM...]
#
# The systems are metastore, hiveserver2, hiveserver2-http, zipkin, storm, hbase and spark. Each has
# a script:
#
#     ./hbase.sh start         starts a server, unless it runs, and prints its port
#     ./hbase.sh in COMMAND    runs a command in the network namespace that the server is in
#     ./hbase.sh stop          ends it
#     ./hbase.sh log           prints its log, also after it has ended
#     ./hbase.sh run           starts it, makes the checks, stops it
#
# They need Linux, Java 17, Maven, Python 3, and root or the right to make namespaces. What they
# download and write is in ~/.cache/nocopythrift: live, hive and metastore. docs/live.md says what
# was tried.
set -euo pipefail
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- metastore hiveserver2 hiveserver2-http zipkin storm hbase spark
cache=${XDG_CACHE_HOME:-$HOME/.cache}/nocopythrift/live
failed=
rows=()
for system; do
	[ -e "$system.sh" ] || { echo "live.sh: no system $system" >&2; exit 2; }
	rm -f "$cache/run/$system.row"
	"./$system.sh" run || failed=yes
	rows+=("$(cat "$cache/run/$system.row" 2>/dev/null || echo "| $system | | 0 | FAILED: it did not start |")")
done
printf '\n| system | version | checks | result |\n|---|---|--:|---|\n'
printf '%s\n' "${rows[@]}"
[ -z "$failed" ]
