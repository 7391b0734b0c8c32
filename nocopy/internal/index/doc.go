// Package index has the entries of a message: 32-bit words over the message's bytes. It knows the
// types of values, and no bytes.
//
//	Words   [0 | entry of the root | entry of a list | its slots | entry of a struct | … ]
//	                                                                   Used ↑  zero up to Zeroed
//
// Type Word gives the meaning of a word's bits, and type Room that of a list's room. List and Pair
// are views of entries. The packages that call this one do no arithmetic on words.
//
// Entries are allocated one after another and never move, since handles have their numbers. The
// entry of a struct has a word for each field: At reads it, Put stores it. A struct of many fields
// has a table instead, which wide.go draws. When a message is compacted, the entries of removed
// values are freed, and used again for values of the same type.
//
// Packages engine and parse call this package. Any number of goroutines may
// read an index while none changes it.
package index
