// Package jsonvalue reads and writes messages as JSON, for package nocopyjson and for the methods
// of generated types and of package reflection. Package nocopyjson says what the text looks like.
//
// write.go walks a message's index and appends text, read.go converts tokens to wire bytes.
// scalar.go and writescalar.go have values without parts, containers.go and keys.go the others,
// names.go the names of fields. options.go has the options, methods.go what the methods that
// encoding/json calls need.
package jsonvalue
