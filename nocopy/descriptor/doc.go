// Package descriptor tells what the IDL says of the messages, enums, constants and services of a
// program: names, ids, types, requiredness, defaults, comments and annotations.
//
// Descriptions are values, read-only and cheap to copy; they may be used by any number of
// goroutines. StructOf finds the description of a message's type. What generated packages define
// can also be found by the IDL's names, see FindStruct: each package adds itself when the program
// starts.
//
// Package reflection reads and changes messages by these descriptions.
package descriptor
