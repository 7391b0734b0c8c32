package dynamic

import (
	"sync"

	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Types are never freed: messages refer to them by numbers, and one table has all their programs.
// Equal types are therefore made only once in a program, however often they are loaded. Types are
// equal if everything that their descriptors say is equal, including comments and annotations,
// for the types themselves and all types that they refer to. The names of their files, without
// folders, must be equal, too.
//
// A key is a hash of all this. Structs that refer to each other in circles are hashed together
// (keys.go) and made together. A struct is in the table only if all structs that it refers to are.

// key stands for everything that the descriptors of a type say.
type key [32]byte

type containerKey struct {
	kind      schema.Kind
	key, elem *thriftimpl.Type
}

type methodKey struct {
	service, name string
	args, result  *thriftimpl.Desc
	returns       bool
}

// interned has the types that were made. Nothing is removed.
var interned = struct {
	sync.Mutex
	structs    map[key]*thriftimpl.Desc
	enums      map[key]*thriftimpl.Enum
	containers map[containerKey]*thriftimpl.Type
	methods    map[methodKey]*rpc.Method
	memory     int // about how many bytes the types take
	most       int // how many they may take
}{
	structs:    map[key]*thriftimpl.Desc{},
	enums:      map[key]*thriftimpl.Enum{},
	containers: map[containerKey]*thriftimpl.Type{},
	methods:    map[methodKey]*rpc.Method{},
	most:       maxMemory,
}

// maxMemory bounds the bytes that types loaded at run time may take, roughly, their programs
// included.
const maxMemory = 512 << 20

// maxContainers bounds the list, set and map types. Package nocopy can number twice as many.
const maxContainers = 1 << 19

// The memory that types take, in bytes, roughly, their programs included.
const (
	structMemory    = 800
	fieldMemory     = 700
	idMemory        = 8 // an id between the lowest and the highest
	enumMemory      = 300
	valueMemory     = 150
	containerMemory = 300
	methodMemory    = 400
)

// take notes that n more bytes will be used. It returns false if that would be too many. The
// caller holds the lock.
func take(n int) bool {
	if interned.memory+n > interned.most {
		return false
	}
	interned.memory += n
	return true
}
