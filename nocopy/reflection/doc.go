// Package reflection reads and changes messages of any type by the names or ids of their fields.
// These need not be known when the program is compiled.
//
// Of returns a Message for the handle of a generated or dynamic type. It refers to the same
// message: changes through it show through the handle, and both end with the message's Release.
// Strings and binaries alias the message, as those of getters do.
//
// Names, paths and values often come from outside. If they do not fit, functions return errors.
// Setting fields of an absent struct, and using a message after its Release, panics as with
// generated setters.
package reflection
