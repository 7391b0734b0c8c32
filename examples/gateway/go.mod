module github.com/nocopythrift/nocopythrift/examples/gateway

go 1.26

require (
	github.com/nocopythrift/nocopythrift v0.0.0
	github.com/nocopythrift/nocopythrift/examples/kvstore v0.0.0
	go.uber.org/goleak v1.3.0
)

require (
	github.com/alecthomas/participle/v2 v2.1.4 // indirect
	github.com/go-json-experiment/json v1.27.2 // indirect
)

replace github.com/nocopythrift/nocopythrift => ../..
replace github.com/nocopythrift/nocopythrift/examples/kvstore => ../kvstore
