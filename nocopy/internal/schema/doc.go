// Package schema describes types: a Struct has Fields, a Field has a Type, and a Type may refer to
// a Struct. Generated code and package dynamic make the descriptors. Other packages read them.
//
//	Struct Order           words  start end | id  customer
//	  Field 1: id          Type i64           word 2, header 0a 00 01
//	  Field 2: customer    Type Customer      word 3, header 0c 00 02
//
// A field's header is the beginning of its wire bytes, by which parsing finds the Field. Its word
// is the place in a struct's index entry that says where the value is. Ref holds both in one
// constant.
//
// A descriptor also keeps what other packages compute once per type: its programs (package
// program), and the values that package nocopy stores in HandleType, JSON and Absent. Package
// nocopy and the packages in nocopy/internal may call this one.
package schema
