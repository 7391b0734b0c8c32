// The corpora of fuzz tests, which go test reads here, are a module of their own, so that they are
// not in the zip file of the root module.
module github.com/nocopythrift/nocopythrift/nocopy/testdata/fuzz

go 1.26
