#!/bin/sh
# Regenerates package orders from orders.thrift.
set -eu
cd "$(dirname "$0")"
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -C ../../.. -o "$bin/nocopyc" ./gen/nocopyc
"$bin/nocopyc" -kitex -o . orders.thrift
