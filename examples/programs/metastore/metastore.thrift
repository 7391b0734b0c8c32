// What the client uses of the Hive Metastore's protocol. Fields that are left out survive its edits.
//
// The annotation (location) marks texts that say where something is stored. Of a map it marks all
// values; with a value, (location = "path"), that of this key only. The proxy rewrites what is
// marked: see locations.thrift.
namespace go hms

struct FieldSchema {
  1: string name
  2: string type
  3: string comment
}

struct Order {
  1: string col
  2: i32 order
}

struct SerDeInfo {
  1: string name
  2: string serializationLib
  // Spark keeps the location of its tables here, too
  3: map<string, string> parameters (location = "path")
}

struct SkewedInfo {
  1: list<string> skewedColNames
  2: list<list<string>> skewedColValues
  3: map<list<string>, string> skewedColValueLocationMaps (location)
}

struct StorageDescriptor {
  1: list<FieldSchema> cols
  2: string location (location)
  3: string inputFormat
  4: string outputFormat
  5: bool compressed
  6: i32 numBuckets
  7: SerDeInfo serdeInfo
  8: list<string> bucketCols
  9: list<Order> sortCols
  10: map<string, string> parameters
  11: optional SkewedInfo skewedInfo
  12: optional bool storedAsSubDirectories
}

struct Database {
  1: string name
  2: string description
  3: string locationUri (location)
  4: map<string, string> parameters
}

struct Table {
  1: string tableName
  2: string dbName
  3: string owner
  4: i32 createTime
  5: i32 lastAccessTime
  6: i32 retention
  7: StorageDescriptor sd
  8: list<FieldSchema> partitionKeys
  9: map<string, string> parameters
  12: string tableType
}

struct Partition {
  1: list<string> values
  2: string dbName
  3: string tableName
  4: i32 createTime
  5: i32 lastAccessTime
  6: StorageDescriptor sd
  7: map<string, string> parameters
}

exception MetaException {
  1: string message
}

exception AlreadyExistsException {
  1: string message
}

exception InvalidObjectException {
  1: string message
}

exception InvalidOperationException {
  1: string message
}

exception NoSuchObjectException {
  1: string message
}

service Metastore {
  list<string> get_all_databases() throws (1: MetaException o1)
  list<string> get_all_tables(1: string db_name) throws (1: MetaException o1)
  Database get_database(1: string name) throws (1: NoSuchObjectException o1, 2: MetaException o2)
  Table get_table(1: string dbname, 2: string tbl_name)
    throws (1: MetaException o1, 2: NoSuchObjectException o2)
  void alter_table(1: string dbname, 2: string tbl_name, 3: Table new_tbl)
    throws (1: InvalidOperationException o1, 2: MetaException o2)
  list<string> get_partition_names(1: string db_name, 2: string tbl_name, 3: i16 max_parts = -1)
    throws (1: NoSuchObjectException o1, 2: MetaException o2)
  list<Partition> get_partitions(1: string db_name, 2: string tbl_name, 3: i16 max_parts = -1)
    throws (1: NoSuchObjectException o1, 2: MetaException o2)
  list<Partition> get_partitions_by_names(
    1: string db_name
    2: string tbl_name
    3: list<string> names
  ) throws (1: MetaException o1, 2: NoSuchObjectException o2)
  Partition get_partition_by_name(1: string db_name, 2: string tbl_name, 3: string part_name)
    throws (1: MetaException o1, 2: NoSuchObjectException o2)
  list<string> partition_name_to_vals(1: string part_name) throws (1: MetaException o1)
  Partition add_partition(1: Partition new_part)
    throws (1: InvalidObjectException o1, 2: AlreadyExistsException o2, 3: MetaException o3)
  void alter_partition(1: string db_name, 2: string tbl_name, 3: Partition new_part)
    throws (1: InvalidOperationException o1, 2: MetaException o2)
  bool drop_partition_by_name(
    1: string db_name
    2: string tbl_name
    3: string part_name
    4: bool deleteData
  ) throws (1: NoSuchObjectException o1, 2: MetaException o2)
}
