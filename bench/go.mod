module github.com/nocopythrift/nocopythrift/bench

go 1.26

require (
	github.com/bytedance/gopkg v0.1.4
	github.com/cloudwego/gopkg v0.2.1
)

replace github.com/nocopythrift/nocopythrift => ../
