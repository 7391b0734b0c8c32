#!/bin/sh
# Regenerates everything under generated/ from echo.thrift and echo.proto. Needs what ../generate.sh needs.
set -eu
cd "$(dirname "$0")"
module=github.com/nocopythrift/nocopythrift/bench/rpc
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -C .. -modfile=tools.mod -o "$bin/" tool
go build -o "$bin/" google.golang.org/grpc/cmd/protoc-gen-go-grpc
go build -C ../.. -o "$bin/nocopyc" ./gen/nocopyc
PATH=$bin:$PATH

rm -rf generated
mkdir -p generated/kitex generated/apache generated/grpc generated/nocopy
kitex -module $module -gen-path generated/kitex -no-dependency-check -thrift no_default_serdes echo.thrift >/dev/null
rm -f kitex_info.yaml
thrift --gen go:skip_remote -out generated/apache echo.thrift
rm -f generated/apache/echo/GoUnusedProtection__.go
protoc --go_out=. --go_opt=module=$module --go-grpc_out=. --go-grpc_opt=module=$module echo.proto
nocopyc -o generated/nocopy echo.thrift
gofmt -w generated
