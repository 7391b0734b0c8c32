module github.com/nocopythrift/nocopythrift/internal/model

go 1.26

require (
	github.com/apache/thrift v0.25.0
	github.com/google/go-cmp v0.7.0
	github.com/nocopythrift/nocopythrift v0.0.0
	github.com/nocopythrift/nocopythrift/internal/referee v0.0.0
)

require github.com/go-json-experiment/json v1.27.2 // indirect

replace github.com/nocopythrift/nocopythrift => ../..
replace github.com/nocopythrift/nocopythrift/internal/referee => ../referee
