// Package descriptor describes the messages, enums, constants and services of a program as the IDL
// declares them: names, ids, types, requiredness, defaults, comments and annotations.
//
// Descriptions are read-only values that are cheap to copy. Any number of goroutines may use them.
// StructOf returns the description of a message's type. FindStruct and the like find definitions
// of all generated packages by their IDL names; each package registers itself when the program
// starts.
//
// Package reflection reads and changes messages by these descriptions.
package descriptor
