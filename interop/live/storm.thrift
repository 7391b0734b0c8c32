// What storm.sh uses of the protocol of Storm's Nimbus: topologies. The keys of inputs are structs.

union JavaObjectArg {
  1: i32 int_arg
  2: i64 long_arg
  3: string string_arg
  4: bool bool_arg
  5: binary binary_arg
  6: double double_arg
}

struct JavaObject {
  1: required string full_class_name
  2: required list<JavaObjectArg> args_list
}

struct NullStruct {}

struct GlobalStreamId {
  1: required string componentId
  2: required string streamId
}

union Grouping {
  1: list<string> fields
  2: NullStruct shuffle
  3: NullStruct all
  4: NullStruct none
  5: NullStruct direct
  6: JavaObject custom_object
  7: binary custom_serialized
  8: NullStruct local_or_shuffle
}

struct StreamInfo {
  1: required list<string> output_fields
  2: required bool direct
}

struct ShellComponent {
  1: string execution_command
  2: string script
}

union ComponentObject {
  1: binary serialized_java
  2: ShellComponent shell
  3: JavaObject java_object
}

struct ComponentCommon {
  1: required map<GlobalStreamId, Grouping> inputs
  2: required map<string, StreamInfo> streams
  3: optional i32 parallelism_hint
  4: optional string json_conf
}

struct SpoutSpec {
  1: required ComponentObject spout_object
  2: required ComponentCommon common
}

struct Bolt {
  1: required ComponentObject bolt_object
  2: required ComponentCommon common
}

struct StateSpoutSpec {
  1: required ComponentObject state_spout_object
  2: required ComponentCommon common
}

struct SharedMemory {
  1: required string name
  2: optional double on_heap
  3: optional double off_heap_worker
  4: optional double off_heap_node
}

struct StormTopology {
  1: required map<string, SpoutSpec> spouts
  2: required map<string, Bolt> bolts
  3: required map<string, StateSpoutSpec> state_spouts
  4: optional list<binary> worker_hooks
  5: optional list<string> dependency_jars
  6: optional list<string> dependency_artifacts
  7: optional string storm_version
  8: optional string jdk_version
  9: optional map<string, set<string>> component_to_shared_memory
  10: optional map<string, SharedMemory> shared_memory
}

struct TopologySummary {
  1: required string id
  2: required string name
  3: required i32 num_tasks
  4: required i32 num_executors
  5: required i32 num_workers
  6: required i32 uptime_secs
  7: required string status
}

exception AlreadyAliveException { 1: required string msg }
exception NotAliveException { 1: required string msg }
exception InvalidTopologyException { 1: required string msg }
exception AuthorizationException { 1: required string msg }

service Nimbus {
  void submitTopology(1: string name, 2: string uploadedJarLocation, 3: string jsonConf, 4: StormTopology topology)
    throws (1: AlreadyAliveException e, 2: InvalidTopologyException ite, 3: AuthorizationException aze)
  string beginFileUpload() throws (1: AuthorizationException aze)
  void uploadChunk(1: string location, 2: binary chunk) throws (1: AuthorizationException aze)
  void finishFileUpload(1: string location) throws (1: AuthorizationException aze)
  string getNimbusConf() throws (1: AuthorizationException aze)
  list<TopologySummary> getTopologySummaries() throws (1: AuthorizationException aze)
  TopologySummary getTopologySummaryByName(1: string name) throws (1: NotAliveException e, 2: AuthorizationException aze)
  string getTopologyConf(1: string id) throws (1: NotAliveException e, 2: AuthorizationException aze)
  StormTopology getTopology(1: string id) throws (1: NotAliveException e, 2: AuthorizationException aze)
  StormTopology getUserTopology(1: string id) throws (1: NotAliveException e, 2: AuthorizationException aze)
}
