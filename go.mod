module github.com/nocopythrift/nocopythrift

go 1.26

require (
	github.com/alecthomas/participle/v2 v2.1.4
	github.com/apache/thrift v0.25.0
	github.com/go-json-experiment/json v1.27.2
	github.com/google/go-cmp v0.7.0
)
