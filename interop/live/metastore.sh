#!/usr/bin/env bash
# A Hive Metastore on Derby, as examples/programs/metastore/hive.sh starts it: on a free port of
# loopback, and not in a wantpace. The referee is hmsclient (PyPI), which uses Apache's library.
system=metastore version="Hive Metastore 3.1.3"
. "$(dirname "$0")/common.sh"
example=$root/examples/programs/metastore
export NOCOPY_METASTORE_DIR=$cache/metastore
python=${XDG_CACHE_HOME:-$HOME/.cache}/nocopythrift/metastore/python/bin/python # of metastore -live
flags=(-transport unframed -protocol binary)

running() { kill -0 "$(cat "$NOCOPY_METASTORE_DIR/run-framed-false/pid" 2>/dev/null)" 2>/dev/null; }
start() { mkdir -p "$state" && "$example/hive.sh" start; }
stop() { "$example/hive.sh" stop; }
inside() { NOCOPY_LIVE_PORT=$port "$@"; }

# free_port prints a port on which nothing listens: there is no namespace.
free_port() {
	local free=$((20000 + RANDOM % 12000))
	while (exec 3<>"/dev/tcp/127.0.0.1/$free") 2>/dev/null; do free=$((free + 1)); done
	echo $free
}

# live: the client and the proxy of the example, with a server that has frames, or has none.
live() {
	local at
	at=$("$example/hive.sh" start "$@")
	(cd "$example" && timeout 580 go run . -metastore "127.0.0.1:$at" -live "$@")
}

checks() {
	port=${NOCOPY_LIVE_PORT:-}
	recorder=$(free_port)
	idl=$(cd "$root/gen/internal" && go mod download -json github.com/akolb1/gometastore@v0.0.0-20221218020403-aaa7217ecd00 |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["Dir"])')/hmsclient/thrift/hive_metastore.thrift
	check "client and proxy of the example, unframed" live
	check "client and proxy of the example, framed" live -framed
	"$example/hive.sh" stop -framed
	check "call without -transport finds out how the server speaks" \
		"$nocopy" call "127.0.0.1:$port" get_all_databases -idl "$idl"
	local want lines
	lines=$("$python" metastore.py "127.0.0.1:$port" reads)
	while IFS=$'\t' read -r method args want; do
		check "call $method: hmsclient's values" has "$want" "$(call "$method" -d "$args")"
	done <<<"$lines"
	check "hmsclient through record" same "$lines" "$(recorded reads timeout 300 "$python" metastore.py "127.0.0.1:$recorder" reads)"
	check "dump shows what record has written" as_dumped reads
	check "replay" replayed reads
	check "hmsclient with a mock that has the recorded answers" same "$lines" "$(mocked reads timeout 300 "$python" metastore.py "127.0.0.1:$recorder" reads)"
}

# has WANT GOT: each value that hmsclient has read is in ours. Its IDL is older and has fewer fields.
has() { "$python" metastore.py has <(printf %s "$1") <(printf %s "$2"); }

main "$@"
