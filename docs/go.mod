// The guide is a module of its own, which has only tests, so that it is not in the zip file of the
// root module: it is read where the repository is.
module github.com/nocopythrift/nocopythrift/docs

go 1.26
