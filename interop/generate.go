package interop

// ThriftTest.thrift is that of the Apache Thrift module; there is no copy of it here.
//
//go:generate sh -c "go run github.com/nocopythrift/nocopythrift/gen/nocopyc -o . $(go list -m -f {{.Dir}} github.com/apache/thrift)/test/ThriftTest.thrift"
