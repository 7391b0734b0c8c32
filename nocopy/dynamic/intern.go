package dynamic

import (
	"sync"

	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Types are never given back: messages refer to them by numbers, and their programs are kept in
// one table. So what is equal is made once in a program, however often it is loaded. Equal means:
// all that descriptors tell is, comments and annotations too, of the type and of those that it
// refers to, and the names of the files that they are in, without folders.
//
// A key is a hash over all that. Structs that refer to each other in circles are hashed together
// (keys.go), and made together: a struct is in the table only if all to which it refers are.

// key stands for all that descriptors tell of a type.
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

// interned are the types that have been made. Nothing is removed.
var interned = struct {
	sync.Mutex
	structs    map[key]*thriftimpl.Desc
	enums      map[key]*thriftimpl.Enum
	containers map[containerKey]*thriftimpl.Type
	methods    map[methodKey]*rpc.Method
	memory     int // about how many bytes they take
	most       int // how many they may take
}{
	structs:    map[key]*thriftimpl.Desc{},
	enums:      map[key]*thriftimpl.Enum{},
	containers: map[containerKey]*thriftimpl.Type{},
	methods:    map[methodKey]*rpc.Method{},
	most:       maxMemory,
}

// maxMemory is about how many bytes the types of a program may take that were loaded at run time,
// their programs included.
const maxMemory = 512 << 20

// maxContainers is the most list, set and map types: package nocopy can number twice as many.
const maxContainers = 1 << 19

// About how many bytes types take, their programs included.
const (
	structMemory    = 800
	fieldMemory     = 700
	idMemory        = 8 // an id between the lowest and the highest
	enumMemory      = 300
	valueMemory     = 150
	containerMemory = 300
	methodMemory    = 400
)

// take notes that n more bytes are about to be taken. It reports false if there are too many. The
// lock is held.
func take(n int) bool {
	if interned.memory+n > interned.most {
		return false
	}
	interned.memory += n
	return true
}
