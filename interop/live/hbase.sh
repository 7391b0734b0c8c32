#!/usr/bin/env bash
# HBase, with two Thrift servers: one unframed with Binary, as usual, one framed with Compact. The
# referee is happybase (PyPI), which uses thriftpy2.
system=hbase version="HBase Thrift server 2.6.1"
. "$(dirname "$0")/common.sh"
port=9090 framed=9095 lib=$cache/hbase-2.6.1
idl=$lib/org/apache/hadoop/hbase/thrift/Hbase.thrift
flags=(-transport unframed -protocol binary)

download() { fetch "$lib" artifacts; }

artifacts() {
	need unzip
	jars "$1" org.apache.hbase:hbase-thrift:2.6.1 org.apache.hbase:hbase-server:2.6.1
	unzip -q "$1/hbase-thrift-2.6.1.jar" '*.thrift' -d "$1"
}

property() { echo "<property><name>$1</name><value>$2</value></property>"; }

launch() {
	cd "$state"
	{
		echo '<configuration>'
		property hbase.rootdir "file://$state/data"
		property hbase.tmp.dir "$state/tmp"
		property hbase.unsafe.stream.capability.enforce false
		property hbase.wal.provider filesystem
		property hbase.zookeeper.property.dataDir "$state/zookeeper"
		property hbase.zookeeper.quorum localhost
		property hbase.master.hostname localhost
		property hbase.regionserver.hostname localhost
		property hbase.master.info.port -1
		property hbase.regionserver.info.port -1
		property hbase.thrift.info.port -1
		echo '</configuration>'
	} >hbase-site.xml
	printf 'log4j.%s\n' 'rootLogger=WARN, err' appender.err=org.apache.log4j.ConsoleAppender appender.err.target=System.err \
		appender.err.layout=org.apache.log4j.PatternLayout 'appender.err.layout.ConversionPattern=%d %p %c: %m%n' >log4j.properties
	local java=(java $(opens java.lang java.lang.reflect java.io java.net java.nio java.util java.util.concurrent sun.nio.ch jdk.internal.ref)
		-Djava.io.tmpdir="$state" -cp "$state:$lib/*")
	spawn "${java[@]}" -Xmx768m org.apache.hadoop.hbase.master.HMaster start
	await 2181
	await 16000
	spawn "${java[@]}" -Xmx256m org.apache.hadoop.hbase.thrift.ThriftServer start -p $port -b 127.0.0.1
	await $port
	spawn "${java[@]}" -Xmx256m org.apache.hadoop.hbase.thrift.ThriftServer start -p $framed -b 127.0.0.1 -hsha -c
	await $framed
}

prepare() { python_with hbase happybase==1.3.0 thriftpy2==0.7.1 setuptools==65.5.0; }

# happybase COMMAND PORT [TRANSPORT PROTOCOL]
happybase() { timeout 300 "$python" hbase.py "$@"; }

# writes: puts a cell by nocopy call, and adds to a counter.
writes() {
	call mutateRow tableName=live row=ours 'mutations:=[{"column": "YTpx", "value": "AP/DvA==", "writeToWAL": true}]'
	call atomicIncrement tableName=live row=ours column=a:n value=42
}

checks() {
	python_with hbase
	cd "$here"
	check "happybase makes a table with 500 rows" happybase make $port
	check "call mutateRow and atomicIncrement" writes
	local lines method args want
	lines=$(happybase reads $port)
	while IFS=$'\t' read -r method args want; do
		check "call $method: happybase's values" same "$want" "$(call "$method" -d "$args")"
	done <<<"$lines"
	check "happybase through record" same "$lines" "$(recorded reads happybase reads $recorder)"
	check "dump shows what record has written" as_dumped reads
	# The number of a scanner is another one each time.
	check "replay, without scanners" replayed reads -only Hbase.getRow -only Hbase.getVer -only Hbase.getRowsWithColumns -only Hbase.getColumnDescriptors
	check "happybase with a mock that has the recorded answers" same "$lines" "$(mocked reads happybase reads $recorder)"
	check "a table that does not exist is a declared exception" answers 3 call getRow tableName=none row=x
	check "a method that does not exist is UNKNOWN_METHOD" answers 65 "$nocopy" call "$(address)" -raw noSuchMethod "${flags[@]}"

	port=$framed flags=()
	while IFS=$'\t' read -r method args want; do
		check "call $method, framed Compact, as the tool finds out" same "$want" "$(call "$method" -d "$args")"
	done <<<"$lines"
	check "happybase through record, framed Compact" same "$lines" "$(recorded framed happybase reads $recorder framed compact)"
	check "dump shows what record has written" as_dumped framed
	check "unframed Binary through record to framed Compact" same "$lines" "$(recorded converted happybase reads $recorder)"
}

main "$@"
