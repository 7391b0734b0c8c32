module github.com/nocopythrift/nocopythrift/internal/rehearse

go 1.26

require golang.org/x/mod v0.31.0
