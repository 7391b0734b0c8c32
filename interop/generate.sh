#!/bin/sh
# Writes anew what Apache's own compiler makes of ThriftTest.thrift: Go for the tests, Python for python/. The compiler is built from the
# C++ in the Apache Thrift module (Debian's is too old for uuid); that takes some minutes and needs cmake, flex, bison and g++.
# Not needed for our own generated code in thrifttest/, which "go generate" writes.
set -eu
cd "$(dirname "$0")"
apache=$(go list -m -f '{{.Dir}}' github.com/apache/thrift)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake -S "$apache/compiler/cpp" -B "$work/build" >"$work/log"
cmake --build "$work/build" >>"$work/log"
thrift=$work/build/bin/thrift
"$thrift" --version

rm -rf internal/apache/thrifttest python/gen-py/ThriftTest
"$thrift" --gen go:skip_remote -out internal/apache "$apache/test/ThriftTest.thrift"
"$thrift" --gen py -out python/gen-py "$apache/test/ThriftTest.thrift"
rm python/gen-py/__init__.py python/gen-py/ThriftTest/*-remote
gofmt -w internal/apache
