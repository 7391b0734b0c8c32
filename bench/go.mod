module github.com/nocopythrift/nocopythrift/bench

go 1.26

require (
	github.com/bytedance/gopkg v0.1.4
	github.com/cloudwego/gopkg v0.2.1
	github.com/nocopythrift/nocopythrift v0.0.0
)

replace github.com/nocopythrift/nocopythrift => ../
