// No code: a module of its own, which keeps the lists out of the root module's zip file.
module github.com/nocopythrift/nocopythrift/api

go 1.26
