// Package lint finds in .thrift files what is wrong, what other tools would stumble over, and what
// a team has agreed not to write.
//
// Its rules come from three places and keep the names that they have there: thriftcheck's checks
// ("field.optional"), buf's rules where they make sense for Thrift ("IMPORT_USED"), and rules of
// its own. Rules lists all of them.
//
// rule.go has the table of rules, rules_thriftcheck.go, rules_buf.go and rules_own.go the rules.
// file.go collects what the rules look at, resolve.go finds what names refer to, nolint.go where
// rules are switched off. config.go chooses the rules. fix.go changes files, print.go and sarif.go
// print findings.
package lint
