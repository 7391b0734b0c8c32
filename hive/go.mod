module github.com/nocopythrift/nocopythrift/hive

go 1.26.0

require (
	github.com/nocopythrift/nocopythrift v0.3.0
)

require github.com/go-json-experiment/json v1.27.2 // indirect

