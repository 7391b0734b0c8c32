#!/bin/sh
# Writes anew the code that the tests call, from internal/greet/greet.thrift: ours, and that of
# Apache's compiler in Go and Java, which needs the program thrift.
set -eu
cd "$(dirname "$0")"
go run -C ../.. ./gen/nocopyc -o interop/otel/internal interop/otel/internal/greet/greet.thrift
if command -v thrift >/dev/null; then
	rm -rf ../internal/apache/greet java/src/main/java/greet
	mkdir -p java/src/main/java
	thrift --gen go:skip_remote -out ../internal/apache internal/greet/greet.thrift
	rm -f ../internal/apache/greet/GoUnusedProtection__.go
	gofmt -w ../internal/apache/greet
	thrift --gen java:generated_annotations=suppress -out java/src/main/java internal/greet/greet.thrift
else
	echo "thrift is not installed: Apache's code is as it was" >&2
fi
