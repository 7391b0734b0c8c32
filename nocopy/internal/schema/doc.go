// Package schema describes types: a Struct has Fields, and a Field has a Type, which may be that
// of a Struct again. Generated code and package dynamic make the descriptors. Others read them.
//
//	Struct Order           words  start end | id  customer
//	  Field 1: id          Type i64           word 2, header 0a 00 01
//	  Field 2: customer    Type Customer      word 3, header 0c 00 02
//
// A field's header is how its bytes begin, and finds the Field when a message is parsed. Its word
// is where the index entry of a struct tells the place of the value. Ref holds both in one
// constant.
//
// What other packages find out about a type once is kept with it: its programs (package program),
// and what package nocopy stores in HandleType, JSON and Absent. Package nocopy and the packages
// in nocopy/internal may call this one.
package schema
