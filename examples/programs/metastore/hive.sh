#!/usr/bin/env bash
# A Hive Metastore 3.1.3 on an embedded Derby database, from Maven's artifacts, on loopback only.
#
#   ./hive.sh [-framed]         starts it, with an empty database, prints its port, and ends it
#                               when interrupted
#   ./hive.sh start [-framed]   the same, but it goes on after the command has ended; if there is
#                               one already, its port is printed
#   ./hive.sh stop [-framed]    ends it
#   ./hive.sh log [-framed]     prints its log
#
# There may be one with frames and one without, Hive's default, at a time. It needs Java (17 was
# tried) and Maven. The first start downloads 85 MB. All is kept in the user's cache directory, or
# where NOCOPY_METASTORE_DIR says.
set -euo pipefail

hive=3.1.3 hadoop=3.3.6
base=${NOCOPY_METASTORE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/nocopythrift/metastore}
jars=$base/jars
framed=false
[ "${!#}" = -framed ] && framed=true
run=$base/run-framed-$framed

die() { echo "hive.sh: $*" >&2; exit 1; }

# artifact GROUP:NAME:VERSION[:TYPE:CLASSIFIER] downloads into $jars, once.
artifact() {
	local group name version type class
	IFS=: read -r group name version type class <<<"$1"
	local file=$jars/$name-$version${class:+-$class}.${type:-jar}
	[ -f "$file" ] && return
	echo "downloading ${file##*/}" >&2
	mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -Dartifact="$1" \
		-DoutputDirectory="$jars" -Dmdep.useBaseVersion=true >&2 || die "Maven could not download $1"
}

download() {
	[ -e "$jars/complete" ] && return
	command -v mvn >/dev/null || die "Maven (mvn) is needed to download the metastore"
	mkdir -p "$jars"
	if [ ! -d "$jars/apache-hive-metastore-$hive-bin" ]; then
		artifact org.apache.hive:hive-standalone-metastore:$hive:tar.gz:bin
		rm -rf "$jars/unpacked"
		mkdir "$jars/unpacked"
		tar xzf "$jars/hive-standalone-metastore-$hive-bin.tar.gz" -C "$jars/unpacked"
		mv "$jars/unpacked/apache-hive-metastore-$hive-bin" "$jars/"
	fi
	for a in org.apache.hadoop:hadoop-client-api:$hadoop org.apache.hadoop:hadoop-client-runtime:$hadoop \
		commons-logging:commons-logging:1.2 commons-cli:commons-cli:1.2 commons-io:commons-io:2.11.0 \
		commons-collections:commons-collections:3.2.2 org.slf4j:slf4j-api:1.7.36; do
		artifact "$a"
	done
	: >"$jars/complete"
}

# property NAME VALUE writes one setting.
property() { printf '<property><name>%s</name><value>%s</value></property>\n' "$1" "$2"; }

configure() {
	{
		echo '<configuration>'
		property javax.jdo.option.ConnectionURL "jdbc:derby:;databaseName=$run/db;create=true"
		property javax.jdo.option.ConnectionDriverName org.apache.derby.jdbc.EmbeddedDriver
		property metastore.warehouse.dir "file://$run/warehouse"
		property metastore.thrift.uris "thrift://127.0.0.1:$port"
		property metastore.thrift.bind.host 127.0.0.1
		property metastore.thrift.framed.transport.enabled "$framed"
		property metastore.expression.proxy org.apache.hadoop.hive.metastore.DefaultPartitionExpressionProxy
		property metastore.task.threads.always org.apache.hadoop.hive.metastore.events.EventCleanerTask
		property metastore.event.db.notification.api.auth false
		# What is in the buckets of S3 is in folders here.
		property fs.s3.impl org.apache.hadoop.fs.viewfs.ViewFileSystemOverloadScheme
		for bucket in old new other; do
			mkdir -p "$run/buckets/$bucket"
			property "fs.viewfs.mounttable.$bucket.linkFallback" "file://$run/buckets/$bucket"
		done
		echo '</configuration>'
	} >"$run/conf/metastore-site.xml"
	cat >"$run/conf/metastore-log4j2.properties" <<-END
		status = WARN
		rootLogger.level = WARN
		rootLogger.appenderRef.console.ref = console
		appender.console.type = Console
		appender.console.name = console
		appender.console.target = SYSTEM_ERR
		appender.console.layout.type = PatternLayout
		appender.console.layout.pattern = %d %p %c: %m%n
	END
}

jvm() { # CLASS ARGUMENT... replaces this process
	local opens=() package
	for package in java.lang java.net java.util java.util.concurrent java.io java.nio; do
		opens+=("--add-opens=java.base/$package=ALL-UNNAMED")
	done
	case $(java -version 2>&1) in *'"1.8'*) opens=() ;; esac
	cd "$run"
	export METASTORE_HOME=$jars/apache-hive-metastore-$hive-bin METASTORE_CONF_DIR=$run/conf
	exec java -Xmx1g "${opens[@]}" "-Dderby.stream.error.file=$run/derby.log" \
		"-Dlog4j.configurationFile=$run/conf/metastore-log4j2.properties" \
		-cp "$run/conf:$METASTORE_HOME/lib/*:$jars/*" "$@"
}

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; }

# pid prints the process that start has started, if it is still running.
pid() {
	local p
	p=$(cat "$run/pid" 2>/dev/null) || return 1
	case $(ps -o args= -p "$p" 2>/dev/null) in *"$run"*) echo "$p" ;; *) return 1 ;; esac
}

# await PID: until the metastore listens on $port, which is printed.
await() {
	for _ in $(seq 240); do
		listens && { echo "$port"; return; }
		kill -0 "$1" 2>/dev/null || die "it did not start: $(tail -n 3 "$run/log")"
		sleep 0.5
	done
	kill "$1"
	die "it did not listen within two minutes; see $run/log"
}

start() {
	local running
	if running=$(pid); then
		port=$(cat "$run/port")
		await "$running"
		return
	fi
	command -v java >/dev/null || die "Java is needed"
	download
	rm -rf "$run"
	mkdir -p "$run/conf"
	port=$((20000 + RANDOM % 10000))
	while listens; do port=$((port + 1)); done
	configure
	if [ -d "$base/empty-db" ]; then
		cp -r "$base/empty-db" "$run/db"
	else
		(jvm org.apache.hadoop.hive.metastore.tools.MetastoreSchemaTool -dbType derby -initSchema) >"$run/log" 2>&1 ||
			die "no database could be made: $(tail -n 3 "$run/log")"
		cp -r "$run/db" "$base/empty-db.$$"
		mv "$base/empty-db.$$" "$base/empty-db"
	fi
	(jvm org.apache.hadoop.hive.metastore.HiveMetaStore -p "$port") </dev/null >"$run/log" 2>&1 &
	echo "$port" >"$run/port"
	echo $! >"$run/pid"
	await $!
}

stop() {
	local p
	p=$(pid) || { echo "it is not running" >&2; return; }
	kill "$p"
	for _ in $(seq 40); do
		kill -0 "$p" 2>/dev/null || break
		sleep 0.25
	done
	kill -9 "$p" 2>/dev/null || true
	rm -rf "$run"
}

case ${1:-} in
"" | -framed)
	pid >/dev/null && die "it is running already: stop it first"
	trap stop EXIT
	trap exit INT TERM
	start
	while pid >/dev/null; do sleep 0.5; done
	;;
start | stop) "$1" ;;
log) cat "$run/log" ;;
*)
	sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac
