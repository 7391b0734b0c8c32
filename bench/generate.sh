#!/bin/sh
# Regenerates everything under generated/ from idl/. Needs Go and nothing else: the peers' generators are pinned in tools/go.mod (a module of its own, so that
# what they depend on never decides which runtime the benchmark measures) and are built from the module cache.
set -eu
cd "$(dirname "$0")"
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT

# Kitex FastCodec. `no_default_serdes` leaves out Apache's Read/Write methods, which FastCodec never calls.
go build -C tools -o "$bin/thriftgo" github.com/cloudwego/thriftgo
rm -rf generated/kitex
mkdir -p generated/kitex
for idl in peer prom subset; do
	"$bin/thriftgo" -q -g fastgo:no_default_serdes -o generated/kitex "idl/$idl.thrift"
done

# Ours, by the generator of this checkout.
go build -C .. -o "$bin/nocopyc" ./gen/nocopyc
rm -rf generated/nocopy
mkdir -p generated/nocopy
"$bin/nocopyc" -o generated/nocopy idl/peer.thrift idl/prom.thrift

gofmt -w generated
