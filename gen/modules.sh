#!/bin/sh
# Writes anew what nocopyc makes in the modules beside the root, where no other generator is needed.
# Their generate.sh make the code of other libraries, too.
set -eu
cd "$(dirname "$0")/.."
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -o "$bin/nocopyc" ./gen/nocopyc
go mod download -C interop github.com/apache/thrift # has the IDL; interop itself may not compile yet
thrift=$(cd interop && go list -m -f '{{.Dir}}' github.com/apache/thrift)

make_in() { # make_in FOLDER ARGUMENTS...: runs nocopyc there
	folder=$1
	shift
	(cd "$folder" && "$bin/nocopyc" "$@")
}
make_in interop -o . "$thrift/test/ThriftTest.thrift"
make_in bench -fields -o generated/nocopy idl/peer.thrift idl/prom.thrift generated/idl/wide.thrift
make_in bench/rpc -o generated/nocopy echo.thrift
kitex=github.com/nocopythrift/nocopythrift/kitex/internal
make_in kitex -kitex -o internal internal/shop/shop.thrift
make_in kitex -kitex -o internal internal/names/names.thrift
make_in kitex -kitex -o internal -package-prefix "$kitex" internal/market/market.thrift
make_in bench/kitexrpc -kitex -o generated/nocopy record.thrift
make_in kitex/examples/kitexproxy -kitex -o . orders.thrift
make_in interop/otel -o internal internal/greet/greet.thrift
make_in parquetmeta -o . format.thrift
make_in hive/internal -o . TCLIService.thrift
make_in examples/programs/metastore -o . metastore.thrift
make_in kitex/examples/proxy -o . shop.thrift envelope.thrift
ingest=github.com/nocopythrift/nocopythrift/examples/ingest
make_in . -o examples/ingest -r -package-prefix "$ingest" examples/ingest/idl/ingest.thrift
make_in . -o examples/ingest examples/ingest/idl/prom.thrift
make_in . -o examples/ingest/bench/generated examples/ingest/bench/opaque.thrift
