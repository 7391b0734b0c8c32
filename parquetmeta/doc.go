// Package parquetmeta reads the footers of Parquet files in place.
//
//go:generate go run -C .. ./gen/nocopyc -o parquetmeta parquetmeta/format.thrift
package parquetmeta
