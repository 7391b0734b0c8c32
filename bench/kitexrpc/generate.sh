#!/bin/sh
# Regenerates the code that is measured, from record.thrift: ours and that of Kitex's generator.
set -eu
cd "$(dirname "$0")"
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -C ../.. -o "$bin/nocopyc" ./gen/nocopyc
go build -C .. -modfile=tools.mod -o "$bin/" github.com/cloudwego/kitex/tool/cmd/kitex

rm -rf generated
mkdir -p generated/plain generated/nocopy
"$bin/nocopyc" -kitex -o generated/nocopy record.thrift
"$bin/kitex" -module github.com/nocopythrift/nocopythrift/bench/kitexrpc -gen-path generated/plain \
	-no-dependency-check -thrift no_default_serdes record.thrift >/dev/null
rm -f kitex_info.yaml
gofmt -w generated/plain
