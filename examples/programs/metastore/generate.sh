#!/bin/sh
# Writes all generated files anew: ours, and what Apache's own compiler (thrift 0.25, in PATH or in
# $THRIFT) makes of the same IDL for tests and the benchmark. Its Go generator can't do maps whose
# keys are lists, so one field is left out there.
set -eu
cd "$(dirname "$0")"
go run -C ../../.. ./gen/nocopyc -o examples/programs/metastore examples/programs/metastore/metastore.thrift

thrift=${THRIFT:-thrift}
case $("$thrift" --version) in
*0.25.*) ;;
*) echo "generate.sh: the committed code was made by thrift 0.25, here is $("$thrift" --version)" >&2 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
grep -v skewedColValueLocationMaps metastore.thrift | sed 's/^namespace go .*/namespace go apache/' >"$work/metastore.thrift"
rm -rf internal; mkdir internal
"$thrift" --gen go:skip_remote -out internal "$work/metastore.thrift"
rm -f internal/apache/GoUnusedProtection__.go internal/apache/*-consts.go
gofmt -w internal
