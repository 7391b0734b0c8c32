#!/usr/bin/env bash
# Runs a command beside Spark's Thrift server 3.5.5:
#
#     ./spark.sh [-sasl] [-http] COMMAND [ARGUMENT...]
#
# The server is in a network namespace of its own that has a loopback interface and nothing else,
# whatever it listens on. The command runs in it, too, and has the server's address in
# NOCOPY_HIVE_DSN. The server needs no login; with -sasl it takes any user by SASL PLAIN. With -http
# it speaks HTTP. Its log is in $DIR/spark.log, where DIR is a temporary folder that stays.
#
# The first run downloads the server with pip (317 MB). Java 17 is needed, and root, or the right to
# make namespaces.
set -euo pipefail
version=3.5.5
cache=${XDG_CACHE_HOME:-$HOME/.cache}/nocopythrift/hive
jars=$cache/spark-$version

if [ -z "${NOCOPY_HIVE_INSIDE:-}" ]; then
	if [ ! -d "$jars" ]; then
		mkdir -p "$cache"
		work=$(mktemp -d "$cache/download-XXXXXX")
		trap 'rm -rf "$work"' EXIT
		python3 -m pip --disable-pip-version-check download -q "pyspark==$version" --no-deps --no-binary :all: -d "$work"
		tar xzf "$work/pyspark-$version.tar.gz" -C "$work" --wildcards '*/deps/jars/*'
		mv "$work/pyspark-$version/deps/jars" "$jars"
		rm -rf "$work"
	fi
	user=
	[ "$(id -u)" = 0 ] || user=-r
	NOCOPY_HIVE_INSIDE=1 exec unshare $user -n bash "$0" "$@"
fi

login=NOSASL mode=binary query='auth=NOSASL' port=10000
while [ $# -gt 0 ]; do
	case $1 in
	-sasl) login=NONE query=${query/auth=NOSASL/auth=PLAIN} ;;
	-http) mode=http login=NONE query='transport=http' ;;
	-*) echo "$0: no option $1" >&2; exit 2 ;;
	*) break ;;
	esac
	shift
done
[ $# -gt 0 ] || { echo "usage: $0 [-sasl] [-http] COMMAND [ARGUMENT...]" >&2; exit 2; }
ip link set lo up

opens=
for p in java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.util java.util.concurrent java.util.concurrent.atomic sun.nio.ch sun.nio.cs sun.security.action sun.util.calendar; do
	opens="$opens --add-opens=java.base/$p=ALL-UNNAMED"
done
dir=$(mktemp -d)
(
	cd "$dir"
	exec java -Xmx${NOCOPY_HIVE_MEMORY:-2g} $opens -Djdk.reflect.useDirectMethodHandle=false -Dderby.system.home="$dir" \
		-cp "$jars/*" org.apache.spark.deploy.SparkSubmit \
		--class org.apache.spark.sql.hive.thriftserver.HiveThriftServer2 --master 'local[1]' \
		--conf spark.ui.enabled=false --conf spark.driver.host=127.0.0.1 --conf spark.driver.bindAddress=127.0.0.1 \
		--conf "spark.sql.warehouse.dir=$dir/warehouse" --conf spark.sql.shuffle.partitions=1 \
		--conf spark.sql.session.timeZone=America/New_York spark-internal \
		--hiveconf "hive.server2.authentication=$login" --hiveconf "hive.server2.transport.mode=$mode" \
		--hiveconf "hive.server2.thrift.port=$port" --hiveconf "hive.server2.thrift.http.port=$port" \
		--hiveconf hive.server2.thrift.bind.host=127.0.0.1
) >"$dir/spark.log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null || true' EXIT
for ((i = 0; ; i++)); do
	if (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null; then break; fi
	if ! kill -0 $server 2>/dev/null || [ $i -gt 600 ]; then
		tail -20 "$dir/spark.log" >&2
		exit 1
	fi
	sleep 0.5
done
if ip -o link show | grep -qv ': lo:'; then
	echo "$0: the namespace has other interfaces than lo" >&2
	exit 1
fi
echo "Spark $version answers; its log is $dir/spark.log; it listens on:" >&2
ss -Hltn >&2
NOCOPY_HIVE_DSN="hive://tester:secret@127.0.0.1:$port/?$query" NOCOPY_HIVE_SERVER=spark "$@"
