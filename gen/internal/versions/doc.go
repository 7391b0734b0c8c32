// Package versions has the code of one IDL in two states, as two repositories may have it that
// generate it at different times. The tests hand values from one to the other in every way.
package versions

//go:generate go run ../../nocopyc -o .. -fields -reflect -package-prefix github.com/nocopythrift/nocopythrift/gen/internal older.thrift newer.thrift
