"""Writes files of many shapes with pyarrow into a directory, and what pyarrow reads of each footer
beside it as JSON."""
import base64
import datetime
import decimal
import json
import sys
import uuid

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe

out = sys.argv[1]


def note(name, metadata):
    """Writes what pyarrow knows of a footer."""
    groups = []
    for g in range(metadata.num_row_groups):
        group = metadata.row_group(g)
        chunks = []
        for c in range(group.num_columns):
            k = group.column(c)
            s = k.statistics
            chunks.append([
                k.num_values, k.total_compressed_size, k.total_uncompressed_size, k.data_page_offset,
                k.dictionary_page_offset if k.has_dictionary_page else -1,
                s.null_count if s is not None and s.has_null_count else -1,
                k.compression, k.physical_type, ",".join(sorted(k.encodings)),
                k.has_offset_index, k.has_column_index, k.file_path,
            ])
        groups.append({"rows": group.num_rows, "bytes": group.total_byte_size, "chunks": chunks})
    schema = metadata.schema
    columns = [schema.column(i) for i in range(metadata.num_columns)]
    with open(f"{out}/{name}.json", "w") as f:
        json.dump({
            "rows": metadata.num_rows, "creator": metadata.created_by, "size": metadata.serialized_size,
            "columns": [[c.path, c.max_definition_level, c.max_repetition_level] for c in columns],
            "groups": groups,
        }, f)


def write(name, table, **options):
    path = f"{out}/{name}.parquet"
    pq.write_table(table, path, **options)
    note(name, pq.read_metadata(path))


def numbers(columns, rows):
    return pa.table({f"c{i}": pa.array(range(rows), pa.int64()) for i in range(columns)})


now = datetime.datetime(2026, 11, 26)
every = pa.table({
    "bool": pa.array([True, None, False]), "i8": pa.array([1, None, -1], pa.int8()), "u8": pa.array([1, None, 2], pa.uint8()),
    "i16": pa.array([1, None, -1], pa.int16()), "u16": pa.array([1, None, 2], pa.uint16()),
    "i32": pa.array([1, None, -1], pa.int32()), "u32": pa.array([1, None, 2], pa.uint32()),
    "i64": pa.array([1, None, -1], pa.int64()), "u64": pa.array([1, None, 2], pa.uint64()),
    "f16": pa.array([1.5, None, -2.0], pa.float16()), "f32": pa.array([1.5, None, -2.0], pa.float32()),
    "f64": pa.array([1.5, float("nan"), -0.0], pa.float64()),
    "text": pa.array(["a", None, "ü" * 100]), "large": pa.array(["a", None, ""], pa.large_string()),
    "binary": pa.array([b"a", None, b""], pa.binary()), "fixed": pa.array([b"abc", None, b"xyz"], pa.binary(3)),
    "date": pa.array([now.date(), None, now.date()]), "time32": pa.array([1, None, 2], pa.time32("ms")),
    "time64": pa.array([1, None, 2], pa.time64("ns")), "stamp": pa.array([now, None, now], pa.timestamp("us")),
    "zoned": pa.array([now, None, now], pa.timestamp("ns", "UTC")), "span": pa.array([1, None, 2], pa.duration("s")),
    "decimal": pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("-3.50")], pa.decimal128(20, 2)),
    "wide": pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("-3.50")], pa.decimal256(60, 2)),
    "none": pa.nulls(3), "uuid": pa.array([uuid.UUID(int=5).bytes, None, uuid.UUID(int=6).bytes], pa.uuid()),
    "dictionary": pa.array(["x", "y", "x"]).dictionary_encode(),
    "list": pa.array([[1, None], None, []], pa.list_(pa.int32())),
    "lists": pa.array([[["a"], []], None, [[None]]], pa.list_(pa.list_(pa.string()))),
    "struct": pa.array([{"a": 1, "b": {"c": "x"}}, None, {"a": None, "b": None}], pa.struct({"a": pa.int32(), "b": pa.struct({"c": pa.string()})})),
    "map": pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int64())),
    "a.dot": pa.array([1, 2, 3]),
})
write("every", every)
write("every-index", every, write_page_index=True, data_page_version="2.0", write_page_checksum=True, compression="zstd")
write("every-plain", every, use_dictionary=False, write_statistics=False, compression="none", version="1.0", store_schema=False)
write("every-old", every.drop_columns(["time64", "zoned"]), use_deprecated_int96_timestamps=True, compression="gzip", store_decimal_as_integer=True)
for name, column, encoding in [
    ("plain", "i64", "PLAIN"), ("delta", "i64", "DELTA_BINARY_PACKED"), ("split", "f64", "BYTE_STREAM_SPLIT"), ("split-int", "i32", "BYTE_STREAM_SPLIT"),
    ("length", "text", "DELTA_LENGTH_BYTE_ARRAY"), ("prefix", "text", "DELTA_BYTE_ARRAY"), ("rle", "bool", "RLE"),
]:
    for codec in ["snappy", "brotli", "lz4"]:
        write(f"{name}-{codec}", every.select([column]), use_dictionary=False, column_encoding={column: encoding}, compression=codec)
write("bloom", every.select(["text", "i64"]), bloom_filter_options={"text": True, "i64": {"ndv": 100}}, sorting_columns=[pq.SortingColumn(1, descending=True)])
write("10000x1", numbers(10_000, 2))
write("5x1000", numbers(5, 2000), row_group_size=2, write_page_index=True)
write("100x50", numbers(100, 50), row_group_size=1)
write("empty", numbers(3, 0))
write("no-columns", pa.table({}))

# The footer of a dataset, whose chunks are in two other files
parts = []
for i in range(2):
    write(f"part-{i}", numbers(3, 500), row_group_size=100, write_page_index=True, metadata_collector=parts)
    parts[i].set_file_path(f"part-{i}.parquet")
parts[0].append_row_groups(parts[1])
parts[0].write_metadata_file(f"{out}/_metadata.parquet")
note("_metadata", pq.read_metadata(f"{out}/_metadata.parquet"))


class Kms(pe.KmsClient):
    def __init__(self, config):
        pe.KmsClient.__init__(self)

    def wrap_key(self, key, name):
        return base64.b64encode(key)

    def unwrap_key(self, key, name):
        return base64.b64decode(key)


for name, plain in [("encrypted", False), ("signed", True)]:
    properties = pe.CryptoFactory(lambda config: Kms(config)).file_encryption_properties(
        pe.KmsConnectionConfig(),
        pe.EncryptionConfiguration(footer_key="k0123456789abcde", column_keys={"k1": ["i64"]}, plaintext_footer=plain))
    with pq.ParquetWriter(f"{out}/{name}.parquet", every.select(["text", "i64"]).schema, encryption_properties=properties) as w:
        w.write_table(every.select(["text", "i64"]))
