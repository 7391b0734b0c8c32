// This is no Go: the file keeps the guide out of the zip file of the root module. It is read where
// the repository is. Its tests are in nocopy/tests/built/documents.
module github.com/nocopythrift/nocopythrift/docs

go 1.26
