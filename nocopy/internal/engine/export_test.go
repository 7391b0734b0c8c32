// What tests need of the inside of the package, and tests outside of it, too.

package engine

// Debugging reports whether the tag nocopydebug is set.
const Debugging = debugging

// What the environment leaves of the tag's checks.
var ChecksMissing, ChecksRemoved = checksMissing, checksRemoved
