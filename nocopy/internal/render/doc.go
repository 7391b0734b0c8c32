// Package render turns messages into text, values for logs and map keys, and compares them.
//
//	Text, Format         text for people; redacted values are left out
//	LogValue             values of bounded size for package slog
//	Equal, AppendKey     values, not bytes, are compared: sets and maps have no order
//
// It reads messages by two types of package engine. A Walker passes over everything in a message:
// text and logs are made with it, and JSON by package nocopyjson. A Value has a type. Two messages
// are compared by Values, since their types need not be the same.
//
// Packages nocopy, thriftimpl and nocopyjson call it. Package engine does not.
package render
