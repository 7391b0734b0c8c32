#!/bin/sh
# Regenerates packages shop and envelope, and what the proxies that it is compared with need:
# Kitex's code (kitex_gen) and Apache's (apache), for which the compiler called thrift is needed.
set -eu
cd "$(dirname "$0")"
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -C ../../.. -o "$bin/nocopyc" ./gen/nocopyc
go build -C ../../../bench -modfile=tools.mod -o "$bin/" github.com/cloudwego/kitex/tool/cmd/kitex

"$bin/nocopyc" -o . shop.thrift envelope.thrift
rm -rf kitex_gen
"$bin/kitex" -module github.com/nocopythrift/nocopythrift/kitex/examples/proxy \
	-no-dependency-check -thrift no_default_serdes shop.thrift >/dev/null
rm -f kitex_info.yaml
if command -v thrift >/dev/null; then
	rm -rf apache
	mkdir apache
	thrift --gen go:skip_remote -out apache shop.thrift
	rm -f apache/shop/GoUnusedProtection__.go
else
	echo "thrift is not installed: apache is as it was" >&2
fi
gofmt -w kitex_gen apache
