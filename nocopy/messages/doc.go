// Package messages does what is the same for messages of all types: it compares them, copies one
// into another, merges them, and selects parts of them by field masks.
//
// # Equality
//
// [Equal] compares structs, lists, sets and maps by what they mean, not by their bytes. The order
// of fields, of a set's elements and of a map's pairs does not count, at any depth, and also where
// elements and keys are structs or containers; the order of a list's elements does. What occurs
// several times counts once: of a field and of a map's key it is the last, as for getters.
//
//   - A field that is set and one that is not are different, whatever the values are. The option
//     [EquateDefaults] compares what getters return instead.
//   - Doubles are compared as Go compares them: 0 equals −0, except as a map's key, and NaN equals
//     nothing, so that a message with a NaN does not equal itself. With [EquateNaNs] all NaNs are
//     equal.
//   - Bools are true or false, whatever byte stands for true.
//   - Enums are numbers. Unions are equal if the same arm is set, to an equal value; where several
//     came, it is the last.
//   - Fields that the IDL does not know are equal if those with the same id have the same types
//     and bytes, in the same order. [IgnoreUnknown] leaves them out.
//   - A handle that is absent, such as that of a field which is not set, or zero, equals only such
//     handles. With EquateDefaults it equals an empty value.
//
// Generated types, lists and maps have a method Equal, which does the same without options, for
// operands of the same Go type; package cmp finds it, too.
//
// Structs of different Go types are compared if their types are the same: both structs, unions or
// exceptions with the same name in the IDL, and fields with the same ids, names, types,
// requiredness and defaults, in any order, to any depth. So are types that were generated from one
// IDL twice. Otherwise they are not equal. Enum types are the same if their names are.
//
// Equal takes time in proportion to the size of both messages and to how deep they are, and for
// sets and maps to the logarithm of their size, whatever the bytes are. Parts with the same bytes
// are not looked into, unless they may have NaNs. Sets and maps that differ in their bytes take
// memory in proportion to their size.
//
// # Copies
//
// [CopyInto] makes one struct a copy of another, wherever both are; [Merge] adds what another has.
// The structs that they change must be there: an absent one is a panic, as for setters, and so are
// two structs whose types are not the same. Both take time in proportion to the messages' size and
// to how deep they are.
//
// # Masks
//
// A [Mask] selects parts of messages by paths such as
//
//	user.name, lines[*].price, lines[0], labels["colour"], scores[-5], byColour[RED].note
//
// that [NewMask] checks against the type's descriptor. It keeps, drops, copies or sets what they
// select.
//
// # Threads
//
// A Mask may be used by any number of goroutines. What functions of this package only read may be
// read by others at the same time under the conditions of package nocopy; a message that is not
// finished is completed by reading it here, and so changed.
package messages
