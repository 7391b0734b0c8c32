// Examples with requirements that the root module does not have, or too long for its zip file.
module github.com/nocopythrift/nocopythrift/examples/programs

go 1.26

require (
	github.com/apache/thrift v0.25.0
	github.com/nocopythrift/nocopythrift v0.0.0
	go.uber.org/goleak v1.3.0
)

require (
	github.com/alecthomas/participle/v2 v2.1.4 // indirect
	github.com/go-json-experiment/json v1.27.2 // indirect
)

replace github.com/nocopythrift/nocopythrift => ../..
