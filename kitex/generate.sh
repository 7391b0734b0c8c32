#!/bin/sh
# Regenerates the code that this module's tests call: ours, and from internal/shop/shop.thrift that
# of Kitex's generator (internal/plain) and that of Apache's (internal/apache), which needs the
# compiler called thrift.
set -eu
cd "$(dirname "$0")"
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -C .. -o "$bin/nocopyc" ./gen/nocopyc
go build -C ../bench -modfile=tools.mod -o "$bin/" github.com/cloudwego/kitex/tool/cmd/kitex

"$bin/nocopyc" -kitex -o internal internal/shop/shop.thrift
"$bin/nocopyc" -kitex -o internal internal/names/names.thrift
"$bin/nocopyc" -kitex -o internal -package-prefix github.com/nocopythrift/nocopythrift/kitex/internal \
	internal/market/market.thrift
rm -rf internal/plain internal/apache
mkdir -p internal/plain internal/apache
"$bin/kitex" -streamx -module github.com/nocopythrift/nocopythrift/kitex -gen-path internal/plain \
	-no-dependency-check -thrift no_default_serdes internal/shop/shop.thrift >/dev/null
rm -f kitex_info.yaml
if command -v thrift >/dev/null; then
	thrift --gen go:skip_remote -out internal/apache internal/shop/shop.thrift
	rm -f internal/apache/shop/GoUnusedProtection__.go
else
	echo "thrift is not installed: internal/apache is as it was" >&2
	git checkout internal/apache
fi
gofmt -w internal/plain internal/apache
