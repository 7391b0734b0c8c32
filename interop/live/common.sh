# Functions that the scripts of this folder share; live.sh says what one does with these scripts.
#
# A script sets system, version, port (the server's, in its namespace) and idl, and defines
#
#     download   puts what it needs into $cache; does nothing if it is there
#     launch     starts servers in this network namespace with spawn, and awaits their ports
#     checks     makes checks, in that namespace, too
#
# and ends with: main "$@". Instead of launch it may define launcher, which prints a command that
# runs another one beside a server.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/nocopythrift/live
nocopy=$cache/bin/nocopy
self=$here/$system.sh
state=$cache/run/$system # log, pid, checks, and what the server writes
export PYTHONDONTWRITEBYTECODE=1 GOFLAGS="${GOFLAGS:--trimpath}"

die() { echo "$system: $*" >&2; exit 1; }

need() {
	for tool; do command -v "$tool" >/dev/null || die "no $tool"; done
}

# fetch FOLDER COMMAND: fills the folder, if there is none, by COMMAND NEW-FOLDER.
fetch() {
	[ ! -d "$1" ] || return 0
	echo "downloading ${1##*/}" >&2
	mkdir -p "$cache"
	local work
	work=$(mktemp -d "$cache/download-XXXXXX")
	("$2" "$work") >&2 || { rm -rf "$work"; die "the download of ${1##*/} has failed"; }
	chmod 755 "$work"
	mv "$work" "$1"
}

maven=org.apache.maven.plugins:maven-dependency-plugin:3.6.1

# jars FOLDER GROUP:NAME:VERSION...: copies artifacts and their requirements.
jars() {
	need java javac mvn
	local group name version
	cd "$1"
	{
		echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version><dependencies>'
		for artifact in "${@:2}"; do
			IFS=: read -r group name version <<<"$artifact"
			echo "<dependency><groupId>$group</groupId><artifactId>$name</artifactId><version>$version</version></dependency>"
		done
		echo '</dependencies></project>'
	} >pom.xml
	mvn -q -B -Dstyle.color=never $maven:copy-dependencies -DoutputDirectory=.
}

# python_with NAME PACKAGE==VERSION...: sets python to an interpreter that has the packages.
python_with() {
	python=$cache/python-$1/bin/python
	[ ! -x "$python" ] || return 0
	need python3
	echo "installing ${*:2}" >&2
	local work=$cache/python-$1 # a virtual environment can't be moved
	python3 -m venv "$work" >&2 &&
		"$work/bin/python" -m pip --quiet --disable-pip-version-check install "${@:2}" >&2 ||
		{ rm -rf "$work"; die "pip could not install ${*:2}"; }
}

opens() { # opens PACKAGE...: what Java 17 needs to let old code look inside the packages
	printf -- '--add-opens=java.base/%s=ALL-UNNAMED ' "$@"
}

# spawn COMMAND...: starts a server, whose output goes to the log.
spawn() {
	"$@" </dev/null >>"$state/log" 2>&1 &
}

# await PORT: until something listens there, for at most 4 minutes, as long as the last spawned
# server runs.
await() {
	local server=$!
	for ((i = 0; i < 480; i++)); do
		if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return; fi
		kill -0 $server 2>/dev/null || break
		sleep 0.5
	done
	die "nothing listens on port $1: see $state/log"
}

# members prints the processes of the server: their environment says whose they are.
members() { grep -lzxsF "NOCOPY_LIVE_STATE=$state" /proc/[0-9]*/environ | cut -d/ -f3; }

# running tells whether the process that start has started is there. Its number may be another's by
# now.
running() {
	local pid
	read -r pid 2>/dev/null <"$state/pid" || return 1
	grep -qzxsF "NOCOPY_LIVE_STATE=$state" "/proc/$pid/environ"
}

# listening tells whether the server's port takes connections.
listening() { running && inside bash -c "exec 3<>/dev/tcp/127.0.0.1/$port" 2>/dev/null; }

launcher() {
	local user=
	[ "$EUID" = 0 ] || user=-r
	echo unshare $user -n
}

# start starts a server, unless one answers, and prints its port. The server has a network namespace
# of its own with nothing but a loopback interface, on whatever it listens.
start() {
	need unshare nsenter setsid flock
	mkdir -p "$cache/run"
	exec 9>"$state.lock"
	flock 9
	if ! listening; then
		stop # what is left of one
		download >&2
		rm -rf "$state"
		mkdir -p "$state"
		NOCOPY_LIVE_STATE=$state setsid $(launcher) bash "$self" serve </dev/null >>"$state/log" 2>&1 9>&- &
		local pid=$!
		echo $pid >"$state/pid"
		for ((i = 0; i < 600; i++)); do
			[ ! -e "$state/ready" ] || break
			kill -0 $pid 2>/dev/null || break
			sleep 0.5
		done
		if [ ! -e "$state/ready" ]; then
			tail -n 20 "$state/log" >&2
			stop
			die "it did not start: see $state/log"
		fi
	fi
	flock -u 9
	echo "$port"
}

# serve is what start runs in the new namespace. It goes on until its process group is ended.
serve() {
	trap 'kill 0' EXIT
	ip link set lo up
	if [ -n "$(declare -F launch)" ]; then launch; fi
	! ip -o link show | grep -qv ': lo:' || die "the namespace has other interfaces than lo"
	: >"$state/ready"
	sleep infinity
}

# stop ends all processes of the server, also if the first one has ended.
stop() {
	kill $(members) 2>/dev/null || true
	for ((i = 0; i < 120; i++)); do
		[ -n "$(members)" ] || break
		sleep 0.5
	done
	kill -9 $(members) 2>/dev/null || true
	rm -f "$state/pid"
}

# inside COMMAND...: runs a command in the namespace of the server.
inside() {
	local pid
	running || die "it is not running"
	read -r pid <"$state/pid"
	if [ "$EUID" = 0 ]; then
		nsenter -n -t "$pid" "$@"
	else
		nsenter -U -n --preserve-credentials -t "$pid" "$@"
	fi
}

# check NAME COMMAND...: a check, which has failed if the command does. Only then its output is
# shown.
check() {
	local name=$1 output
	if output=$("${@:2}" 2>&1 </dev/null); then
		echo "  ok      $name"
		echo ok >>"$state/checks"
	else
		echo "  FAILED  $name"
		head -n 20 <<<"$output" | cut -c-300 | sed 's/^/          /'
		echo FAILED >>"$state/checks"
	fi
}

# same WANT GOT: compares two texts, and those that are JSON by their values.
same() {
	[ -n "$1" ] || { echo "the referee has printed nothing"; return 1; }
	diff <(plain <<<"$1") <(plain <<<"$2")
}

plain() {
	python3 -c '
import json, sys
text = sys.stdin.read()
try:
    text = json.dumps(json.loads(text), sort_keys=True, indent=1)
except ValueError:
    pass
print(text)'
}

# call METHOD ARGUMENT...: nocopy call, with the flags of $flags.
call() { "$nocopy" call "$(address)" "$@" -idl "$idl" -timeout 1m "${flags[@]}"; }
address() { echo "127.0.0.1:$port"; }
flags=()

# answers CODE COMMAND...: the command has this exit code.
answers() {
	local code=0
	"${@:2}" || code=$?
	[ $code = "$1" ] || { echo "exit code $code"; return 1; }
}

# end PID...: ends commands of the tool as Ctrl-C does, and by force after a minute.
end() {
	kill -INT "$@" 2>/dev/null || true
	for ((i = 0; i < 120; i++)); do
		kill -0 "$@" 2>/dev/null || break
		sleep 0.5
	done
	kill -9 "$@" 2>/dev/null || true
	wait "$@" || true
}

# recorded FILE COMMAND...: runs a command beside nocopy record, which listens on the port
# $recorder and writes FILE.jsonl, and beside nocopy dump, which reads the packets there and writes
# FILE.dump. The command must end by itself.
recorder=19090
recorded() {
	local file=$state/$1 pids=() result=0
	rm -f "$file.jsonl" "$file.dump"
	"$nocopy" record "$(address)" -listen "127.0.0.1:$recorder" -o "$file.jsonl" -idl "$idl" "${flags[@]}" >"$file.record.log" 2>&1 &
	pids+=($!)
	await $recorder || { cat "$file.record.log" >&2; return 1; }
	"$nocopy" dump -interface lo -port $recorder -idl "$idl" -format json >"$file.dump" 2>"$file.dump.log" &
	pids+=($!)
	sleep 2 # until it has the interface
	"${@:2}" || result=$?
	sleep 2 # until it has the packets
	end "${pids[@]}"
	return $result
}

# as_dumped FILE: nocopy dump has seen the calls that were recorded, and the same in them.
as_dumped() {
	[ -s "$state/$1.jsonl" ] || { echo "nothing was recorded"; return 1; }
	python3 "$here/calls.py" "$state/$1.jsonl" "$state/$1.dump"
}

# replayed FILE FLAG...: the server answers recorded calls as before.
replayed() { "$nocopy" replay "$state/$1.jsonl" "$(address)" -idl "$idl" -timeout 1m "${flags[@]}" "${@:2}"; }

# mocked FILE COMMAND...: runs a command beside nocopy mock, which gives the recorded answers on the
# port $recorder.
mocked() {
	local result=0 mock
	"$nocopy" mock -idl "$idl" -listen "127.0.0.1:$recorder" -strict -answers "$state/$1.jsonl" -q >"$state/$1.mock.log" 2>&1 &
	mock=$!
	await $recorder || { cat "$state/$1.mock.log" >&2; return 1; }
	"${@:2}" || result=$?
	end $mock
	return $result
}

# run starts a server, makes the checks, stops it, and prints a line of live.sh's table.
run() {
	! running || die "it is running: stop it first"
	echo "$system $version"
	trap stop EXIT
	port=$(start)
	mkdir -p "$cache/bin"
	go build -C "$root/cmd/nocopy" -o "$nocopy" .
	rm -f "$state/checks"
	prepare
	inside bash "$self" check || echo FAILED >>"$state/checks"
	local ok failed
	ok=$(grep -c ok "$state/checks" || true) failed=$(grep -c FAILED "$state/checks" || true)
	printf '| %s | %s | %d | %s |\n' "$system" "$version" $((ok + failed)) "$([ "$failed" = 0 ] && echo ok || echo "$failed FAILED")" >"$cache/run/$system.row"
	[ "$failed" = 0 ]
}

prepare() { :; } # before the checks, outside of the namespace: what needs the network

main() {
	case ${1:-} in
	start | stop | run | serve) "$1" ;;
	check) checks ;;
	in) shift; inside "$@" ;;
	log) cat "$state/log" ;;
	*) echo "usage: $0 start | stop | run | in COMMAND [ARGUMENT...] | log" >&2; exit 2 ;;
	esac
}
