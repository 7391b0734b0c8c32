// Package footer has the types of a Parquet file's footer, for tests.
package footer

//go:generate go run ../../../../gen/nocopyc -o .. footer.thrift
