// The part of a Parquet file's footer that the tests of package apachethrift read, written anew after the format's
// description (https://parquet.apache.org, Apache License 2.0): ids, names and types are those of its parquet.thrift.
// What is left out arrives as unknown fields.
namespace go footer

enum Type {
  BOOLEAN = 0
  INT32 = 1
  INT64 = 2
  INT96 = 3
  FLOAT = 4
  DOUBLE = 5
  BYTE_ARRAY = 6
  FIXED_LEN_BYTE_ARRAY = 7
}

enum Repetition {
  REQUIRED = 0
  OPTIONAL = 1
  REPEATED = 2
}

struct SchemaElement {
  1: optional Type type
  3: optional Repetition repetition_type
  4: required string name
  5: optional i32 num_children
}

struct Statistics {
  3: optional i64 null_count
  5: optional binary max_value
  6: optional binary min_value
}

struct ColumnMetaData {
  1: required Type type
  3: required list<string> path_in_schema
  5: required i64 num_values
  12: optional Statistics statistics
}

struct ColumnChunk {
  2: required i64 file_offset
  3: optional ColumnMetaData meta_data
}

struct RowGroup {
  1: required list<ColumnChunk> columns
  2: required i64 total_byte_size
  3: required i64 num_rows
}

struct KeyValue {
  1: required string key
  2: optional string value
}

struct FileMetaData {
  1: required i32 version
  2: required list<SchemaElement> schema
  3: required i64 num_rows
  4: required list<RowGroup> row_groups
  5: optional list<KeyValue> key_value_metadata
  6: optional string created_by
}
