# What HiveServer2 and Spark's Thrift server have in common. A script sets program, which runs a
# command beside a server, its options, the folder home, which it downloads, and auth, an argument
# of hive/testdata/judge.py.
sqlcache=${XDG_CACHE_HOME:-$HOME/.cache}/nocopythrift/hive
port=10000 idl=$root/hive/internal/TCLIService.thrift options=

download() { [ -d "$home" ] || "$program" true; }

launcher() { echo env "TMPDIR=$state" "$program" $options; }

launch() { declare -px NOCOPY_HIVE_DSN NOCOPY_HIVE_SERVER >"$state/environment"; }

prepare() {
	python_with hive PyHive==0.7.0 thrift==0.25.0 thrift-sasl==0.4.3 pure-sasl==0.6.2 setuptools==65.5.0
	go test -C "$root/hive" -c -o "$cache/bin/hive.test" .
}

# tests runs the tests of module hive that are for real servers.
tests() {
	. "$state/environment"
	cd "$root/hive"
	export NOCOPY_HIVE_PYTHON=$python
	"$cache/bin/hive.test" -test.run '^TestReal' -test.timeout 9m -test.v | tee "$state/tests"
	[ "$(grep -cE '^--- PASS: TestReal(Judge|Sums)' "$state/tests")" = 2 ] # they need PyHive
}

# pyhive PORT AUTH prints the rows that PyHive reads.
pyhive() { timeout 300 "$python" "$root/hive/testdata/judge.py" 127.0.0.1 "$@" <"$here/statements.sql"; }

checks() {
	python_with hive
	check "the client's tests: values, arguments, cancelling, 100,000 rows and 100 MB as PyHive reads them" tests
	local want
	want=$(pyhive $port $auth)
	check "call: a session with OpenSession to FetchResults has PyHive's rows" same "$want" "$("$python" sql.py "$nocopy" call "$(address)" -calls - -idl "$idl" "${flags[@]}" <statements.sql)"
	local behind=NOSASL
	[ "$auth" != HTTP ] || behind=HTTP
	check "PyHive through record" same "$want" "$(recorded rows pyhive $recorder $behind)"
	check "dump shows what record has written" as_dumped rows
	check "PyHive with a mock that has the recorded answers" same "$want" "$(mocked rows pyhive $recorder $behind)"
}
