// Package nocopyjson reads and writes messages as JSON. Writing walks the message's index and
// appends text; reading turns the tokens of encoding/json/jsontext into wire bytes as they come.
// There is no tree in between.
//
//	text, err := nocopyjson.Marshal(o)      // an order.Order, or any other message or part of one
//	err = nocopyjson.Unmarshal(text, &o)    // a new message, of which o is then the root
//
// Generated types also have the methods that encoding/json and encoding/json/v2 look for, so that
// messages may stand anywhere in Go values: MarshalJSON, UnmarshalJSON, MarshalJSONTo and
// UnmarshalJSONFrom. With them messages are read and written as encoding/json does it:
//
//   - Fields that the IDL does not know are passed over, as with [AllowUnknown], and names in them
//     may come twice. encoding/json/v2 refuses them with its option RejectUnknownMembers, and with
//     Go 1.27 so does a Decoder of encoding/json after DisallowUnknownFields.
//   - Bytes that are not UTF-8 are replaced, as with [ReplaceInvalidUTF8]. encoding/json/v2
//     refuses them unless it has jsontext.AllowInvalidUTF8.
//
// Case matters there, too, and a field that comes twice is an error.
//
// # What stands for what
//
//   - Structs, exceptions and unions are objects. Fields that are not set are left out, or all
//     are written ([ZeroValues]); null stands for a field that is not set. A union's object has
//     one field, or none.
//   - A field is called as its annotation json.name says, else as the key json of its annotation
//     go.tag ('json:"name"', with ",string" for numbers as strings, and "-" for neither writing
//     nor reading it; omitempty means nothing here), else as in the IDL. Case matters.
//   - Numbers are numbers, i64 as well, or strings ([Int64Strings]). Both are read, also 1.0 and
//     1e3 as integers. NaN, Infinity and -Infinity are strings.
//   - Enums are names, and numbers where the IDL has no name. Both are read, any number.
//   - Strings are strings. Only what JSON demands is escaped: not HTML. One that is not UTF-8 is
//     an error, or is changed ([ReplaceInvalidUTF8]).
//   - Binaries are base64, with + and /, padded. With - and _, or not padded, they are read, too.
//   - A uuid is 01234567-89ab-cdef-0123-456789abcdef.
//   - Lists and sets are arrays. A set's elements are not compared.
//   - Maps are objects if their keys are numbers, bools, enums, strings, binaries or uuids, which
//     are then strings as above; else arrays of arrays of a key and a value. Of equal keys the
//     last is written.
//   - The handle of an absent struct is null, also for the methods.
//
// Fields that the IDL does not know are not written. The functions of this package refuse them
// when they are read unless [AllowUnknown] is given.
//
// # Errors
//
// What is wrong with a text is an [nocopy.Error] with the offset in the text, and the path of the
// value, in the IDL's names: "Order.lines[3].count", in maps the number of the pair. In it,
// errors.Is finds [ErrSyntax], [ErrValue], [ErrUnknownField], [ErrDuplicate],
// [nocopy.ErrMissingRequired], [nocopy.ErrLimit], [nocopy.ErrTrailing] or io.ErrUnexpectedEOF. No
// message is made then, and the handle to be set stays as it was. Of what can't be written, the
// offset is that in what would have been written.
//
// # Limits
//
// [nocopy.Limits] hold: MaxBytes for the text and for the message, MaxDepth for structs and for
// what is passed over, MaxIndex for the message's index. Names and keys that come twice are found
// in time proportional to the text. A text that is written is bounded by Limits.MaxBytes, and with
// [ZeroValues] by a multiple of the message if there is none.
package nocopyjson
