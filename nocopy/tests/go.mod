module github.com/nocopythrift/nocopythrift/nocopy/tests

go 1.26

require (
	github.com/apache/thrift v0.25.0
	github.com/emersion/go-sasl v0.0.0-20241020182733-b788ff22d5a6
	github.com/go-json-experiment/json v1.27.2
	github.com/google/go-cmp v0.7.0
	github.com/nocopythrift/nocopythrift v0.0.0
	github.com/nocopythrift/nocopythrift/examples/programs v0.0.0
	go.uber.org/goleak v1.3.0
)

require github.com/alecthomas/participle/v2 v2.1.4 // indirect

replace github.com/nocopythrift/nocopythrift => ../..

replace github.com/nocopythrift/nocopythrift/examples/programs => ../../examples/programs
