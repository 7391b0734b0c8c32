"""Writes events.parquet with pyarrow (26.0.1): a row per minute of four hours, in row groups of two
hours and pages of half an hour."""
import datetime
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq

begin = datetime.datetime(2026, 11, 30, 8, tzinfo=datetime.timezone.utc)
pq.write_table(
    pa.table({
        "ts": pa.array([begin + datetime.timedelta(minutes=i) for i in range(240)], pa.timestamp("us", "UTC")),
        "level": pa.array([["info", "warn", "error"][i % 3] for i in range(240)]),
        "value": pa.array([i / 10 for i in range(240)]),
    }),
    pathlib.Path(__file__).parent / "events.parquet", row_group_size=120, write_page_index=True, write_batch_size=30,
    data_page_size=1, use_dictionary=["level"], store_schema=False)
