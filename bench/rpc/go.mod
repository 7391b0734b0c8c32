module github.com/nocopythrift/nocopythrift/bench/rpc

go 1.26

require (
	github.com/apache/thrift v0.25.0
	github.com/cloudwego/kitex v0.16.3
	github.com/nocopythrift/nocopythrift v0.0.0
	google.golang.org/genproto v0.0.0-20250707201910-8d1bb00bc6a7
	google.golang.org/grpc v1.75.0
	google.golang.org/protobuf v1.36.12
)

replace github.com/nocopythrift/nocopythrift => ../..

tool google.golang.org/grpc/cmd/protoc-gen-go-grpc
