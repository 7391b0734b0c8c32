// Package nocopyjson reads and writes messages as JSON. Writing walks the message's index and
// appends text. Reading converts tokens of encoding/json/jsontext directly to wire bytes.
//
//	text, err := nocopyjson.Marshal(o)      // an order.Order, or any other message or part of one
//	err = nocopyjson.Unmarshal(text, &o)    // a new message, then o is its root
//
// Generated types also have the methods that encoding/json and encoding/json/v2 use: MarshalJSON,
// UnmarshalJSON, MarshalJSONTo and UnmarshalJSONFrom. Messages may therefore be part of any Go
// value. These methods behave like encoding/json:
//
//   - Fields that the IDL does not know are skipped, as with [AllowUnknown]; they may contain
//     duplicate names. encoding/json/v2 refuses them with its option RejectUnknownMembers. From Go
//     1.27 on, a Decoder of encoding/json refuses them after DisallowUnknownFields.
//   - Bytes that are not UTF-8 are replaced, as with [ReplaceInvalidUTF8]. encoding/json/v2
//     refuses them unless it has jsontext.AllowInvalidUTF8.
//
// In both cases, names are case-sensitive, and a duplicate field is an error.
//
// # Mapping
//
//   - Structs, exceptions and unions are objects. Unset fields are omitted, unless [ZeroValues] is
//     given. When reading, null means an unset field. A union's object has one field, or none.
//   - A field's name is, in this order: its annotation json.name; the key json of its annotation
//     go.tag; its name in the IDL. In a go.tag such as 'json:"name"', ",string" writes numbers as
//     strings, "-" excludes the field, and omitempty has no effect.
//   - Numbers are numbers. With [Int64Strings], i64 are strings. Both forms are read; 1.0 and 1e3
//     are accepted as integers. NaN, Infinity and -Infinity are strings.
//   - Enums are names, or numbers if the IDL has no name. Both are read, and any number is
//     accepted.
//   - Strings are strings. They are escaped as JSON demands; HTML is not escaped. A string that is
//     not UTF-8 is an error, unless [ReplaceInvalidUTF8] is given.
//   - Binaries are padded base64 with + and /. Reading also accepts - and _, missing padding, and
//     line breaks.
//   - A uuid is 01234567-89ab-cdef-0123-456789abcdef.
//   - Lists and sets are arrays. When reading, elements of a set that an earlier one equals are
//     left out, as with setters. A received set is written as it is.
//   - Maps are objects if their keys are numbers, bools, enums, strings, binaries or uuids; the
//     keys are then strings in the forms above. Other maps are arrays of [key, value] arrays. Of
//     equal keys the last is written.
//   - An absent struct is null, also for the methods.
//
// Fields that the IDL does not know are not written. When reading, the functions of this package
// refuse them, unless [AllowUnknown] is given.
//
// # Errors
//
// An invalid text gives a [nocopy.Error] with the offset in the text and the path of the value in
// the IDL's names, such as "Order.lines[3].count". In maps the path has the number of the pair.
// errors.Is finds [ErrSyntax], [ErrValue], [ErrUnknownField], [ErrDuplicate],
// [nocopy.ErrMissingRequired], [nocopy.ErrLimit], [nocopy.ErrTrailing] or io.ErrUnexpectedEOF. In
// a text that is not UTF-8 it finds both [ErrSyntax] and [nocopy.ErrUTF8]. No message is made
// then, and the handle is unchanged. For errors of writing, the offset is the position in the
// text that would have been written.
//
// # Limits
//
// [nocopy.Limits] apply when reading: MaxBytes to the text and to the message, MaxDepth to structs
// and skipped values, MaxIndex to the message's index. Duplicate names and keys are found in
// linear time. When writing, Limits.MaxBytes bounds the text. Without it,
// [ZeroValues] bounds the text by a multiple of the message.
package nocopyjson
