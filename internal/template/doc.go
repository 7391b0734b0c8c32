// Package template executes templates in the syntax of text/template on plain data: fields, maps,
// slices and functions.
//
// Templates can't call methods. text/template looks methods up by names that are known only at run
// time, and the linker therefore keeps the exported methods of all types: nocopyc would have 10.7
// MB instead of 8.2. Of text/template's functions this package has and, eq, not, or and printf;
// {{break}} and {{continue}} are missing.
package template
