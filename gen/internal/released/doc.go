// Package released has a folder for each released version from 1.0 on, with code that nocopyc of
// that version generated, and its tests. None of that is ever generated or written again: it shows
// that such code works with every later version of the library, also in one program with code of
// the head, from which it takes messages and to which it gives some. Each has
//
//   - idl: the IDL, which has everything that an IDL can have,
//   - fields: the code, with -fields and -reflect, and golint: the same with -golint, too,
//   - tests, which use nothing that a program could not,
//   - sums.txt: a checksum of each file. TestReleased of the root module compares them.
//
// The folder of the same name in kitex/internal/released has code with -kitex.
// gen/freeze.sh, which make freeze calls, makes a folder, with the tests in folder template. Until
// a version has its tag, make freeze-again replaces its folders.
package released
