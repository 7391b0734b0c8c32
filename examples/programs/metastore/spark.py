"""Spark makes, fills, alters and reads tables in s3://new, through a proxy; go run . -live -spark calls it.

    spark.py PROXY FOLDER   FOLDER stands for the bucket s3://new
"""

import sys

from pyspark.sql import SparkSession

proxy, folder = sys.argv[1:]
builder = SparkSession.builder.master("local[1]").enableHiveSupport()
for key, value in {
    "spark.hadoop.hive.metastore.uris": "thrift://" + proxy,
    "spark.hadoop.hive.exec.dynamic.partition.mode": "nonstrict",
    "spark.hadoop.fs.s3.impl": "org.apache.hadoop.fs.viewfs.ViewFileSystemOverloadScheme",
    "spark.hadoop.fs.viewfs.mounttable.new.linkFallback": "file://" + folder,
    "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "1", "spark.log.level": "ERROR",
    "spark.ui.showConsoleProgress": "false",
}.items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()


def check(text, *want):
    have = [tuple(row) for row in spark.sql(text).collect()]
    if have != list(want):
        sys.exit(f"{text}: {have}, not {list(want)}")


def located(what, *want):
    have = [row[1] for row in spark.sql("DESCRIBE EXTENDED " + what).collect() if row[0] == "Location"]
    if have != list(want):
        sys.exit(f"{what} is in {have}, not in {list(want)}")


check("DROP DATABASE IF EXISTS spark CASCADE")
check("CREATE DATABASE spark LOCATION 's3://new/spark.db'")
check("CREATE TABLE spark.native (a INT, b STRING) USING parquet PARTITIONED BY (b)")
check("INSERT INTO spark.native VALUES (1, 'x'), (2, 'y'), (3, 'y')")
check("CREATE TABLE spark.hive (a INT) PARTITIONED BY (day STRING) STORED AS ORC")
check("INSERT INTO spark.hive PARTITION (day) VALUES (7, 'mon'), (8, 'tue')")
check("ALTER TABLE spark.hive ADD PARTITION (day='wed') LOCATION 's3://new/wed'")
check("INSERT INTO spark.hive PARTITION (day='wed') VALUES (9)")
check("ALTER TABLE spark.native SET TBLPROPERTIES ('k'='v')")
check("ALTER TABLE spark.hive DROP PARTITION (day='mon')")
check("SELECT b, sum(a) FROM spark.native GROUP BY b ORDER BY b", ("x", 1), ("y", 5))
check("SELECT a, day FROM spark.hive WHERE day >= 'tue' ORDER BY a", (8, "tue"), (9, "wed"))
check("SHOW PARTITIONS spark.hive", ("day=tue",), ("day=wed",))
located("spark.native", "s3://new/spark.db/native")
located("spark.hive", "s3://new/spark.db/hive")
located("spark.hive PARTITION (day='wed')", "s3://new/wed", "s3://new/spark.db/hive")
spark.stop()
