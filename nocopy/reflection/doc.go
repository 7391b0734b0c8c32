// Package reflection reads and changes messages of any type by the names or ids of their fields,
// which need not be known when the program is compiled.
//
// Of makes a Message of a generated type's handle, or of a dynamic one. It refers to the same
// message: what is set through it is seen through the handle, and both end with the message's
// Release. Values of strings and binaries alias the message, as those of getters do.
//
// What comes from outside, such as names, paths and values, leads to errors where it does not fit.
// Programs that set fields of an absent struct, or use a message after its Release, panic as they
// do with generated setters.
package reflection
