module github.com/nocopythrift/nocopythrift/hive

go 1.26.0

require (
	github.com/go-zookeeper/zk v1.0.4
	github.com/nocopythrift/nocopythrift v1.0.0-rc.1
)

require github.com/go-json-experiment/json v1.27.2 // indirect

