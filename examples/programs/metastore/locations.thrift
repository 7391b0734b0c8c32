// Where else locations travel in Hive 3.1, and nothing else of these calls. The proxy loads this
// file when it starts; all other methods and fields pass through it as they are.
include "metastore.thrift"

struct Catalog {
  3: string locationUri (location)
}

struct CatalogRequest {
  1: Catalog catalog
}

struct AlterCatalogRequest {
  2: Catalog newCat
}

struct CatalogResponse {
  1: Catalog catalog
}

struct PartitionSpecWithSharedSD {
  2: metastore.StorageDescriptor sd
}

struct PartitionListComposingSpec {
  1: list<metastore.Partition> partitions
}

struct PartitionSpec {
  3: string rootPath (location)
  4: optional PartitionSpecWithSharedSD sharedSDPartitionSpec
  5: optional PartitionListComposingSpec partitionList
}

struct CreateTableRequest {
  1: metastore.Table table
}

struct AlterTableRequest {
  4: metastore.Table table
}

struct TableResult {
  1: metastore.Table table
}

struct TablesResult {
  1: list<metastore.Table> tables
}

struct AddPartitionsRequest {
  3: list<metastore.Partition> parts
}

struct AlterPartitionsRequest {
  4: list<metastore.Partition> partitions
}

struct RenamePartitionRequest {
  5: metastore.Partition newPart
}

struct PartitionsResult {
  1: list<metastore.Partition> partitions
}

struct CmRecycleRequest {
  1: string dataPath (location)
}

struct InsertEventRequestData {
  2: list<string> filesAdded (location)
}

union FireEventRequestData {
  1: InsertEventRequestData insertData
}

struct FireEventRequest {
  2: FireEventRequestData data
}

struct WriteNotificationLogRequest {
  5: InsertEventRequestData fileInfo
}

struct ResourceUri {
  2: string uri (location)
}

struct Function {
  8: list<ResourceUri> resourceUris
}

struct AllFunctions {
  1: list<Function> functions
}

service Locations extends metastore.Metastore {
  void create_catalog(1: CatalogRequest catalog)
  void alter_catalog(1: AlterCatalogRequest rqst)
  CatalogResponse get_catalog()

  void create_database(1: metastore.Database database)
  void alter_database(2: metastore.Database db)
  metastore.Database get_database_req()

  void create_table(1: metastore.Table tbl)
  void create_table_with_environment_context(1: metastore.Table tbl)
  void create_table_with_constraints(1: metastore.Table tbl)
  void create_table_req(1: CreateTableRequest request)
  void alter_table_with_environment_context(3: metastore.Table new_tbl)
  void alter_table_with_cascade(3: metastore.Table new_tbl)
  void alter_table_req(1: AlterTableRequest req)
  list<metastore.Table> get_table_objects_by_name()
  TableResult get_table_req()
  TablesResult get_table_objects_by_name_req()
  list<metastore.Table> get_all_materialized_view_objects_for_rewriting()

  metastore.Partition add_partition_with_environment_context(1: metastore.Partition new_part)
  i32 add_partitions(1: list<metastore.Partition> new_parts)
  i32 add_partitions_pspec(1: list<PartitionSpec> new_parts)
  PartitionsResult add_partitions_req(1: AddPartitionsRequest request)
  metastore.Partition append_partition()
  metastore.Partition append_partition_with_environment_context()
  metastore.Partition append_partition_by_name()
  metastore.Partition append_partition_by_name_with_environment_context()
  void alter_partitions(3: list<metastore.Partition> new_parts)
  void alter_partitions_with_environment_context(3: list<metastore.Partition> new_parts)
  void alter_partitions_req(1: AlterPartitionsRequest req)
  void alter_partition_with_environment_context(3: metastore.Partition new_part)
  void rename_partition(4: metastore.Partition new_part)
  void rename_partition_req(1: RenamePartitionRequest req)
  PartitionsResult drop_partitions_req()
  metastore.Partition exchange_partition()
  list<metastore.Partition> exchange_partitions()

  metastore.Partition get_partition()
  metastore.Partition get_partition_with_auth()
  list<metastore.Partition> get_partitions_with_auth()
  list<PartitionSpec> get_partitions_pspec()
  list<metastore.Partition> get_partitions_ps()
  list<metastore.Partition> get_partitions_ps_with_auth()
  list<metastore.Partition> get_partitions_by_filter()
  list<PartitionSpec> get_part_specs_by_filter()
  PartitionsResult get_partitions_by_expr()
  PartitionsResult get_partitions_by_names_req()

  void cm_recycle(1: CmRecycleRequest request)
  void fire_listener_event(1: FireEventRequest rqst)
  void add_write_notification_log(1: WriteNotificationLogRequest rqst)

  void create_function(1: Function func)
  void alter_function(3: Function newFunc)
  Function get_function()
  AllFunctions get_all_functions()
}
