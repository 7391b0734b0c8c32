// Package underscores is generated from an IDL whose names begin with underscores. Its test uses
// the Go names, which are exported.
package underscores

//go:generate go run ../../nocopyc -o .. -fields -reflect -package-prefix github.com/nocopythrift/nocopythrift/gen/internal underscores.thrift other.thrift
