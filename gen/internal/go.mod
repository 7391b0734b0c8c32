module github.com/nocopythrift/nocopythrift/gen/internal

go 1.26

require (
	github.com/alecthomas/participle/v2 v2.1.4
	github.com/apache/thrift v0.25.0
	github.com/google/go-cmp v0.7.0
	github.com/nocopythrift/nocopythrift v0.0.0
	github.com/nocopythrift/nocopythrift/nocopy/tests v0.0.0
)

require github.com/go-json-experiment/json v1.27.2 // indirect

replace github.com/nocopythrift/nocopythrift => ../..

replace github.com/nocopythrift/nocopythrift/nocopy/tests => ../../nocopy/tests
