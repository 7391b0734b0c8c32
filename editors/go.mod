// This is no Go: the file keeps the folder out of the zip file of the root module.
module github.com/nocopythrift/nocopythrift/editors

go 1.26
