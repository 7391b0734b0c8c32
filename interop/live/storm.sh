#!/usr/bin/env bash
# Storm's Nimbus and the ZooKeeper that it needs. No supervisor runs: topologies are kept, and not
# executed. The referee is Storm's own client (storm/Referee.java).
system=storm version="Storm Nimbus 2.8.3"
. "$(dirname "$0")/common.sh"
port=6627 zookeeper=2181 idl=$here/storm.thrift
lib=$cache/storm-2.8.3
flags=(-transport framed -protocol binary)

download() { fetch "$lib" artifacts; }
artifacts() { jars "$1" org.apache.storm:storm-server:2.8.3 org.apache.storm:storm-client:2.8.3; }

launch() {
	cd "$state"
	spawn java -Xmx256m -Dzookeeper.admin.enableServer=false \
		-cp "$lib/*" org.apache.storm.shade.org.apache.zookeeper.server.ZooKeeperServerMain $zookeeper "$state/zookeeper"
	await $zookeeper
	cat >storm.yaml <<-END
		storm.local.dir: "$state/storm"
		storm.local.hostname: "localhost"
		storm.zookeeper.servers: ["localhost"]
		storm.zookeeper.port: $zookeeper
		nimbus.seeds: ["localhost"]
		nimbus.thrift.port: $port
	END
	spawn java -Xmx512m $(opens java.lang java.nio java.util) -Dstorm.home="$state" -Dstorm.conf.file=storm.yaml \
		-cp "$state:$lib/*" org.apache.storm.daemon.nimbus.Nimbus
	await $port
}

prepare() {
	mkdir -p "$state/classes"
	javac -d "$state/classes" -cp "$lib/*" "$here/storm/Referee.java"
}

# referee PORT COMMAND...
referee() { timeout 120 java -cp "$state/classes:$lib/*" Referee "$@"; }

# topology NAME: its id.
topology() { call getTopologySummaryByName "name=$1" | python3 storm.py text id; }

# submit NAME: the recorded topology, by another name.
submit() {
	local location
	location=$(call beginFileUpload | python3 storm.py text)
	call uploadChunk "location=$location" chunk=bytes
	call finishFileUpload "location=$location"
	python3 storm.py again "$state/submitted.jsonl" "$1" "$location" >"$state/arguments"
	call submitTopology -d "@$state/arguments"
}

# shown ID: its inputs, by nocopy call.
shown() { call getUserTopology "id=$1" | python3 storm.py show; }

checks() {
	cd "$here"
	check "Storm's client through record submits a topology" recorded submitted referee $recorder submit first
	check "dump shows what record has written" as_dumped submitted
	local first second
	first=$(topology first)
	check "call getUserTopology: inputs, whose keys are structs, as Storm's client reads them" same "$(referee $port show "$first")" "$(shown "$first")"
	check "call submitTopology: the same topology, by another name" submit second
	second=$(topology second)
	check "Storm's client finds the two equal" referee $port equal "$first" "$second"
	check "a topology that exists is AlreadyAliveException" answers 3 call submitTopology -d "@$state/arguments"
	check "one that does not exist is NotAliveException" answers 3 call getUserTopology id=none
	check "a method that does not exist is UNKNOWN_METHOD" answers 65 "$nocopy" call "$(address)" -raw noSuchMethod "${flags[@]}"
	check "Storm's client through record reads" recorded reads referee $recorder show "$first"
	check "replay" replayed reads
	check "Storm's client with a mock that has the recorded answers" same "$(shown "$first")" "$(mocked reads referee $recorder show "$first")"
}

main "$@"
