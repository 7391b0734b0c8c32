#!/usr/bin/env bash
# Zipkin's collector for Scribe. The referees are thriftpy2 (PyPI), which sends the same spans, and
# Zipkin's HTTP API, which shows what has arrived.
system=zipkin version="Zipkin 3.5.1, Scribe"
. "$(dirname "$0")/common.sh"
port=9410 http=9411 idl=$here/zipkin.thrift
jar=$cache/zipkin-3.5.1

download() { fetch "$jar" server; }

server() {
	need java mvn
	mvn -q -B -Dstyle.color=never $maven:copy -Dartifact=io.zipkin:zipkin-server:3.5.1:jar:exec -DoutputDirectory="$1"
}

launch() {
	cd "$state"
	spawn env COLLECTOR_SCRIBE_ENABLED=true COLLECTOR_PORT=$port QUERY_PORT=$http STORAGE_TYPE=mem \
		java -Xmx512m -jar "$jar/zipkin-server-3.5.1-exec.jar"
	await $port
	await $http
}

prepare() {
	python_with zipkin thriftpy2==0.7.1
	go build -C "$root/interop" -o "$cache/bin/zipkin" ./live/zipkin
}

client() { "$cache/bin/zipkin" "$idl" "$@"; }
stored() { timeout 120 "$python" zipkin.py trace http://127.0.0.1:$http "$@"; }

checks() {
	python_with zipkin
	cd "$here"
	check "thriftpy2 sends 1,000 spans" timeout 120 "$python" zipkin.py send "$idl" $port a1 1000
	local want some
	want=$(stored a1 1000)
	check "Zipkin has them" [ "$(wc -l <<<"$want")" = 1000 ]
	check "the Go client sends 1,000 spans" client "127.0.0.1:$port" a2 1000
	check "Zipkin has the same" same "$want" "$(stored a2 1000)"
	timeout 120 "$python" zipkin.py calls "$idl" a3 1000 >"$state/calls"
	check "call -calls sends 1,000 spans" call Scribe.Log -calls "$state/calls"
	check "Zipkin has the same" same "$want" "$(stored a3 1000)"
	check "thriftpy2 through record sends 30 spans" recorded log timeout 120 "$python" zipkin.py send "$idl" $recorder a4 30
	some=$(stored a4 30)
	check "Zipkin has the same" same "$(timeout 120 "$python" zipkin.py send "$idl" $port a5 30; stored a5 30)" "$some"
	check "the Go client through record sends 30 spans" recorded ours client "127.0.0.1:$recorder" a6 30
	check "Zipkin has the same" same "$some" "$(stored a6 30)"
	check "dump shows what record has written" as_dumped ours
	check "replay" replayed ours
	check "a method that the server does not have is an error" answers_unknown
}

# answers_unknown: the server says that it has no such method, or closes the connection.
answers_unknown() {
	local code=0
	"$nocopy" call "$(address)" -raw noSuchMethod "${flags[@]}" || code=$?
	[ $code = 1 ] || [ $code = 65 ]
}

main "$@"
