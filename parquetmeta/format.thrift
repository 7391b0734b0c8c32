// The metadata of Parquet files: footers, page indexes, headers of Bloom filters and of pages.
// Ids, types and names are those of the format (https://parquet.apache.org, apache/parquet-format);
// the comments are this module's.
namespace go format

// Physical types.
enum Type {
  BOOLEAN = 0
  INT32 = 1
  INT64 = 2
  INT96 = 3 // deprecated
  FLOAT = 4
  DOUBLE = 5
  BYTE_ARRAY = 6
  FIXED_LEN_BYTE_ARRAY = 7
}

// Logical types as old writers tell them. LogicalType has replaced it.
enum ConvertedType {
  UTF8 = 0
  MAP = 1
  MAP_KEY_VALUE = 2
  LIST = 3
  ENUM = 4
  DECIMAL = 5
  DATE = 6
  TIME_MILLIS = 7
  TIME_MICROS = 8
  TIMESTAMP_MILLIS = 9
  TIMESTAMP_MICROS = 10
  UINT_8 = 11
  UINT_16 = 12
  UINT_32 = 13
  UINT_64 = 14
  INT_8 = 15
  INT_16 = 16
  INT_32 = 17
  INT_64 = 18
  JSON = 19
  BSON = 20
  INTERVAL = 21
}

// How often a field occurs in its parent.
enum FieldRepetitionType {
  REQUIRED = 0
  OPTIONAL = 1
  REPEATED = 2
}

// What estimates the size of values in memory.
struct SizeStatistics {
  // Bytes of all values of type BYTE_ARRAY, without their lengths.
  1: optional i64 unencoded_byte_array_data_bytes
  // How many values have each repetition level, from 0 to the highest.
  2: optional list<i64> repetition_level_histogram
  // The same of definition levels.
  3: optional list<i64> definition_level_histogram
}

// The least and greatest coordinates on each axis.
struct BoundingBox {
  1: required double xmin
  2: required double xmax
  3: required double ymin
  4: required double ymax
  5: optional double zmin
  6: optional double zmax
  7: optional double mmin
  8: optional double mmax
}

// Statistics of columns that are geometries or geographies.
struct GeospatialStatistics {
  1: optional BoundingBox bbox
  // Codes of the types that occur, as in well-known binary.
  2: optional list<i32> geospatial_types
}

// Statistics of a column chunk or page. Least and greatest values are in PLAIN encoding; those of
// BYTE_ARRAY have no length before them.
struct Statistics {
  // Deprecated: compared as signed values, whatever the type.
  1: optional binary max
  // Deprecated, as max is.
  2: optional binary min
  // Absent means unknown, not 0.
  3: optional i64 null_count
  4: optional i64 distinct_count
  // An upper bound, in the order that column_orders gives the column.
  5: optional binary max_value
  // A lower bound.
  6: optional binary min_value
  // Whether max_value occurs.
  7: optional bool is_max_value_exact
  // Whether min_value occurs.
  8: optional bool is_min_value_exact
  // Absent means unknown, not 0.
  9: optional i64 nan_count
}

struct StringType {}
struct UUIDType {}
struct MapType {}
struct ListType {}
struct EnumType {}
struct DateType {}
struct Float16Type {}

// All values are null, and the physical type is a guess.
struct NullType {}

// Decimals: a number times ten to the power of -scale.
struct DecimalType {
  1: required i32 scale
  // Digits.
  2: required i32 precision
}

struct MilliSeconds {}
struct MicroSeconds {}
struct NanoSeconds {}

// The unit of times and timestamps.
union TimeUnit {
  1: MilliSeconds MILLIS
  2: MicroSeconds MICROS
  3: NanoSeconds NANOS
}

// Points in time.
struct TimestampType {
  1: required bool isAdjustedToUTC
  2: required TimeUnit unit
}

// Times of day.
struct TimeType {
  1: required bool isAdjustedToUTC
  2: required TimeUnit unit
}

// Integers of 8, 16, 32 or 64 bits.
struct IntType {
  1: required i8 bitWidth
  2: required bool isSigned
}

struct JsonType {}
struct BsonType {}

struct VariantType {
  // Of the specification of variants.
  1: optional i8 specification_version
}

// How the edges of geographies run.
enum EdgeInterpolationAlgorithm {
  SPHERICAL = 0
  VINCENTY = 1
  THOMAS = 2
  ANDOYER = 3
  KARNEY = 4
}

// Shapes in a plane, as well-known binary.
struct GeometryType {
  // The coordinate reference system; OGC:CRS84 if absent.
  1: optional string crs
}

// Shapes on a sphere, as well-known binary.
struct GeographyType {
  // The coordinate reference system; OGC:CRS84 if absent.
  1: optional string crs
  // SPHERICAL if absent.
  2: optional EdgeInterpolationAlgorithm algorithm
}

// What values of a physical type mean.
union LogicalType {
  1: StringType STRING
  2: MapType MAP
  3: ListType LIST
  4: EnumType ENUM
  5: DecimalType DECIMAL
  6: DateType DATE
  7: TimeType TIME
  8: TimestampType TIMESTAMP
  10: IntType INTEGER
  11: NullType UNKNOWN
  12: JsonType JSON
  13: BsonType BSON
  14: UUIDType UUID
  15: Float16Type FLOAT16
  16: VariantType VARIANT
  17: GeometryType GEOMETRY
  18: GeographyType GEOGRAPHY
}

// A node of the schema. The schema lists all nodes, each before its children.
struct SchemaElement {
  // Absent in groups.
  1: optional Type type
  // Bytes of each value of type FIXED_LEN_BYTE_ARRAY.
  2: optional i32 type_length
  // Absent in the root.
  3: optional FieldRepetitionType repetition_type
  4: required string name
  // Of groups; absent in columns.
  5: optional i32 num_children
  6: optional ConvertedType converted_type
  // Of decimals.
  7: optional i32 scale
  // Of decimals.
  8: optional i32 precision
  // The field's id in the schema that this one was made of.
  9: optional i32 field_id
  10: optional LogicalType logicalType
}

// Encodings of values and levels. 1 was never used.
enum Encoding {
  PLAIN = 0
  PLAIN_DICTIONARY = 2 // deprecated
  RLE = 3
  BIT_PACKED = 4 // deprecated
  DELTA_BINARY_PACKED = 5
  DELTA_LENGTH_BYTE_ARRAY = 6
  DELTA_BYTE_ARRAY = 7
  RLE_DICTIONARY = 8
  BYTE_STREAM_SPLIT = 9
}

enum CompressionCodec {
  UNCOMPRESSED = 0
  SNAPPY = 1
  GZIP = 2
  LZO = 3
  BROTLI = 4
  LZ4 = 5 // deprecated
  ZSTD = 6
  LZ4_RAW = 7
}

enum PageType {
  DATA_PAGE = 0
  INDEX_PAGE = 1
  DICTIONARY_PAGE = 2
  DATA_PAGE_V2 = 3
}

// Whether the bounds in a ColumnIndex are sorted.
enum BoundaryOrder {
  UNORDERED = 0
  ASCENDING = 1
  DESCENDING = 2
}

struct DataPageHeader {
  // Values, nulls included.
  1: required i32 num_values
  2: required Encoding encoding
  3: required Encoding definition_level_encoding
  4: required Encoding repetition_level_encoding
  5: optional Statistics statistics
}

struct IndexPageHeader {}

struct DictionaryPageHeader {
  1: required i32 num_values
  2: required Encoding encoding
  // In ascending order.
  3: optional bool is_sorted
}

// A data page whose levels are not compressed.
struct DataPageHeaderV2 {
  // Values, nulls included.
  1: required i32 num_values
  2: required i32 num_nulls
  3: required i32 num_rows
  4: required Encoding encoding
  // Bytes.
  5: required i32 definition_levels_byte_length
  // Bytes.
  6: required i32 repetition_levels_byte_length
  // Whether the values are compressed.
  7: optional bool is_compressed = true
  8: optional Statistics statistics
}

struct SplitBlockAlgorithm {}

union BloomFilterAlgorithm {
  1: SplitBlockAlgorithm BLOCK
}

struct XxHash {}

union BloomFilterHash {
  1: XxHash XXHASH
}

struct Uncompressed {}

union BloomFilterCompression {
  1: Uncompressed UNCOMPRESSED
}

// What comes before the bits of a Bloom filter.
struct BloomFilterHeader {
  // Bytes of bits.
  1: required i32 numBytes
  2: required BloomFilterAlgorithm algorithm
  3: required BloomFilterHash hash
  4: required BloomFilterCompression compression
}

// What comes before each page.
struct PageHeader {
  1: required PageType type
  // Bytes after this header, when they are decompressed.
  2: required i32 uncompressed_page_size
  // Bytes after this header in the file.
  3: required i32 compressed_page_size
  // CRC-32 of these bytes.
  4: optional i32 crc
  5: optional DataPageHeader data_page_header
  6: optional IndexPageHeader index_page_header
  7: optional DictionaryPageHeader dictionary_page_header
  8: optional DataPageHeaderV2 data_page_header_v2
}

struct KeyValue {
  1: required string key
  2: optional string value
}

// A column that the rows of a row group are sorted by.
struct SortingColumn {
  // The column's number among the columns.
  1: required i32 column_idx
  2: required bool descending
  // Whether nulls come before other values.
  3: required bool nulls_first
}

// How many pages of a column chunk have a type and an encoding.
struct PageEncodingStats {
  1: required PageType page_type
  2: required Encoding encoding
  3: required i32 count
}

// What a column chunk has. Offsets count from the beginning of the file, sizes are in bytes.
struct ColumnMetaData {
  1: required Type type
  2: required list<Encoding> encodings
  // The names of the nodes from below the root to the column.
  3: required list<string> path_in_schema
  4: required CompressionCodec codec
  // Values, nulls included.
  5: required i64 num_values
  // Of all pages, with their headers.
  6: required i64 total_uncompressed_size
  // The same in the file.
  7: required i64 total_compressed_size
  8: optional list<KeyValue> key_value_metadata
  // Of the first data page.
  9: required i64 data_page_offset
  10: optional i64 index_page_offset
  11: optional i64 dictionary_page_offset
  12: optional Statistics statistics
  13: optional list<PageEncodingStats> encoding_stats
  // Of the Bloom filter's header, which its bits follow.
  14: optional i64 bloom_filter_offset
  // Of header and bits. Old writers leave it out.
  15: optional i32 bloom_filter_length
  16: optional SizeStatistics size_statistics
  17: optional GeospatialStatistics geospatial_statistics
}

struct EncryptionWithFooterKey {}

struct EncryptionWithColumnKey {
  1: required list<string> path_in_schema
  2: optional binary key_metadata
}

// The key that a column is encrypted with.
union ColumnCryptoMetaData {
  1: EncryptionWithFooterKey ENCRYPTION_WITH_FOOTER_KEY
  2: EncryptionWithColumnKey ENCRYPTION_WITH_COLUMN_KEY
}

// A column in a row group.
struct ColumnChunk {
  // The file that has the data, relative to this one. Only summary files have it.
  1: optional string file_path
  // Deprecated. Writers mean different things by it.
  2: required i64 file_offset = 0
  3: optional ColumnMetaData meta_data
  // Where in the file the chunk's OffsetIndex is.
  4: optional i64 offset_index_offset
  5: optional i32 offset_index_length
  // Where in the file the chunk's ColumnIndex is.
  6: optional i64 column_index_offset
  7: optional i32 column_index_length
  // Of encrypted columns.
  8: optional ColumnCryptoMetaData crypto_metadata
  // Takes the place of meta_data in columns that have a key of their own.
  9: optional binary encrypted_column_metadata
}

// A horizontal part of the table.
struct RowGroup {
  // A chunk for each column, in the schema's order.
  1: required list<ColumnChunk> columns
  // Bytes of all pages before compression.
  2: required i64 total_byte_size
  3: required i64 num_rows
  4: optional list<SortingColumn> sorting_columns
  // Of the first page.
  5: optional i64 file_offset
  // Bytes of all pages in the file.
  6: optional i64 total_compressed_size
  // The row group's number in the file.
  7: optional i16 ordinal
}

struct TypeDefinedOrder {}
struct IEEE754TotalOrder {}
struct Int96TimestampOrder {}

// The order of a column's values. If no arm is known, the column's bounds mean nothing.
union ColumnOrder {
  // That of the logical or physical type.
  1: TypeDefinedOrder TYPE_ORDER
  2: IEEE754TotalOrder IEEE_754_TOTAL_ORDER
  3: Int96TimestampOrder INT96_TIMESTAMP_ORDER
}

struct PageLocation {
  1: required i64 offset
  // Bytes, with the page's header.
  2: required i32 compressed_page_size
  // The page's first row, counted from the beginning of the row group.
  3: required i64 first_row_index
}

// Where the data pages of a column chunk are.
struct OffsetIndex {
  1: required list<PageLocation> page_locations
  // Of each page, bytes of all values of type BYTE_ARRAY.
  2: optional list<i64> unencoded_byte_array_data_bytes
}

// Statistics of the data pages of a column chunk. Element i of each list is that of page i.
struct ColumnIndex {
  // Whether a page has nothing but nulls. Its bounds mean nothing then.
  1: required list<bool> null_pages
  2: required list<binary> min_values
  3: required list<binary> max_values
  4: required BoundaryOrder boundary_order
  // Absent means unknown, not 0.
  5: optional list<i64> null_counts
  // The histograms of all pages, one after another.
  6: optional list<i64> repetition_level_histograms
  7: optional list<i64> definition_level_histograms
  // Absent means unknown, not 0.
  8: optional list<i64> nan_counts
}

struct AesGcmV1 {
  1: optional binary aad_prefix
  2: optional binary aad_file_unique
  // Whether readers must know the prefix.
  3: optional bool supply_aad_prefix
}

struct AesGcmCtrV1 {
  1: optional binary aad_prefix
  2: optional binary aad_file_unique
  // Whether readers must know the prefix.
  3: optional bool supply_aad_prefix
}

union EncryptionAlgorithm {
  1: AesGcmV1 AES_GCM_V1
  2: AesGcmCtrV1 AES_GCM_CTR_V1
}

// The footer of a file.
struct FileMetaData {
  // 1 or 2, which mean the same to readers.
  1: required i32 version
  // The nodes of the schema, each before its children. The first is the root.
  2: required list<SchemaElement> schema
  3: required i64 num_rows
  4: required list<RowGroup> row_groups
  5: optional list<KeyValue> key_value_metadata
  // The program that wrote the file.
  6: optional string created_by
  // The order of each column. Without it the bounds in statistics mean nothing.
  7: optional list<ColumnOrder> column_orders
  // Set if columns are encrypted and the footer is not. The footer is signed then.
  8: optional EncryptionAlgorithm encryption_algorithm
  9: optional binary footer_signing_key_metadata
}

// What comes before an encrypted footer.
struct FileCryptoMetaData {
  1: required EncryptionAlgorithm encryption_algorithm
  2: optional binary key_metadata
}
