#!/bin/sh
# Regenerates the code that is measured: Kitex's structs, by the version of the kitex tool in
# bench/tools.mod of the repository, and the service that carries requests as bytes.
set -eu
cd "$(dirname "$0")/.."
module=github.com/nocopythrift/nocopythrift/examples/ingest
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -C ../../bench -modfile=tools.mod -o "$bin/" github.com/cloudwego/kitex/tool/cmd/kitex
go build -C ../.. -o "$bin/nocopyc" ./gen/nocopyc

rm -rf bench/generated
mkdir -p bench/generated/kitex
"$bin/nocopyc" -o bench/generated bench/opaque.thrift
PATH=$bin:$PATH kitex -module $module -gen-path bench/generated/kitex -no-dependency-check \
	-thrift no_default_serdes idl/prom.thrift >/dev/null
rm -f kitex_info.yaml
gofmt -w bench/generated
