// Package messages compares, copies and merges messages of any type, and selects parts of them by
// field masks.
//
// # Equality
//
// [Equal] compares structs, lists, sets and maps by meaning, not by bytes. The order of a list's
// elements matters. The order of fields, of a set's elements and of a map's pairs does not, at any
// depth. Repeated elements of a set count once. If a field or a map's key occurs several times,
// the last one counts, as for getters.
//
//   - A set field differs from an unset one, whatever its value is. The option [EquateDefaults]
//     compares what getters return instead.
//   - Doubles are compared as in Go: 0 equals −0, except as a map's key. NaN equals nothing; a
//     message with a NaN does not equal itself. With [EquateNaNs] all NaNs are equal.
//   - Bools are true or false, whatever byte stands for true.
//   - Enums are numbers. Unions are equal if the same field is set to an equal value. If several
//     fields came, the last one counts.
//   - Fields that the IDL does not know are equal if those with the same id have the same types
//     and bytes, in the same order. [IgnoreUnknown] ignores them.
//   - An absent handle, such as that of an unset field, equals only absent handles and the zero
//     handle. With EquateDefaults it equals an empty value.
//
// Generated types, lists and maps have a method Equal. It does the same without options, for
// operands of the same Go type. Package cmp uses it, too. Go's == compiles, but compares handles:
// it is false for equal values in two messages.
//
// Structs of different Go types can be equal if the IDL declares them alike, such as types that
// were generated twice from one IDL. Both must be structs, unions or exceptions of the same name.
// Their fields must have the same ids, names, types, requiredness and defaults, in any order, to
// any depth. Enum types are alike if their names are.
//
// The time of Equal is proportional to the size of both messages and to their depth, and for sets
// and maps to the logarithm of their size, whatever the bytes are. Parts with the same bytes are
// skipped, unless they may contain NaNs. Sets and maps with different bytes take memory
// proportional to their size.
//
// # Copies
//
// [CopyInto] makes one struct a copy of another, in the same or another message. [Merge] adds the
// fields of another. Like setters, both panic if the struct to change is absent. They also panic
// if the two types differ. Their time is proportional to the messages' size and depth.
//
// # Masks
//
// A [Mask] selects parts of messages by paths such as
//
//	user.name, lines[*].price, lines[0], labels["colour"], scores[-5], byColour[RED].note
//
// [NewMask] checks the paths against the type's descriptor. A Mask keeps, drops, copies or sets
// the selected parts.
//
// # Threads
//
// Any number of goroutines may use a Mask. Reading a message here follows the rules of package
// nocopy for goroutines, with one addition: reading completes a message that is not finished,
// which is a change.
package messages
