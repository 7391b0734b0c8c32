package hive

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// Error is the server's error about a call or a query that failed.
type Error struct {
	Message string   // such as "Table not found: x"; it may have a stack trace
	State   string   // SQLSTATE, such as "42S02"; "" if the server sent none
	Code    int      // Hive's own code, such as 10001; 0 if there is none
	Info    []string // further messages, such as the lines of a stack trace
}

// Error returns the message without stack traces, with state and code.
func (e *Error) Error() string {
	text, _, _ := strings.Cut(e.Message, "\n\tat ")
	if text = strings.TrimSpace(text); text == "" {
		text = "the server reports an error without a message"
	}
	text = "hive: " + text
	if e.State != "" || e.Code != 0 {
		text += fmt.Sprintf(" (SQLSTATE %q, code %d)", e.State, e.Code)
	}
	return text
}

var (
	// ErrCanceled is the error of a query that was cancelled: with Result.Cancel, by another
	// client or by an administrator.
	ErrCanceled = errors.New("hive: the query was cancelled")

	// ErrSession is the error of a call whose session the server does not know any more: it was
	// closed because it was idle, or the server was started anew. Connect again.
	ErrSession = errors.New("hive: the server does not know the session")

	// ErrClosed is the error of a Conn or Result that was closed.
	ErrClosed = errors.New("hive: it was closed")

	// ErrTimeZone is the error of a time that can't be read or written without the risk of a wrong
	// one. The session's zone is not Config.Location, or its rules differ; or clocks have shown
	// the time twice or never, since they were put back or forward. Texts of times can be read
	// nevertheless.
	ErrTimeZone = errors.New("hive: time zone")

	// ErrReply is the reason in the *nocopy.Error of a reply that is a message of its type, but
	// does not make sense: columns of different lengths, for instance.
	ErrReply = errors.New("not a reply of HiveServer2")
)

// badReply is the error of a reply whose value at path does not make sense.
func badReply(path, format string, args ...any) error {
	why := fmt.Errorf(format, args...)
	return fmt.Errorf("hive: %w", &nocopy.Error{Path: path, Err: fmt.Errorf("%w: %w", ErrReply, why)})
}

// Limits of what an Error keeps of a server's answer.
const (
	maxMessage = 64 << 10
	maxInfo    = 200
)

// statusError returns the error that a status reports, or nil.
func statusError(s tcli.TStatus) error {
	switch code := s.GetStatusCode(); code {
	case tcli.TStatusCode_SUCCESS_STATUS, tcli.TStatusCode_SUCCESS_WITH_INFO_STATUS, tcli.TStatusCode_STILL_EXECUTING_STATUS:
		return nil
	case tcli.TStatusCode_INVALID_HANDLE_STATUS:
		return fmt.Errorf("%w: %w", ErrSession, newError(s))
	}
	err := newError(s)
	// HiveServer2 and Spark have no status of its own for this
	if strings.Contains(err.Message, "Invalid SessionHandle") {
		return fmt.Errorf("%w: %w", ErrSession, err)
	}
	return err
}

// newError copies an error: the reply that it came in is released.
func newError(s tcli.TStatus) *Error {
	e := &Error{Message: bounded(s.GetErrorMessage()), State: bounded(s.GetSqlState()), Code: int(s.GetErrorCode())}
	for i, line := range s.GetInfoMessages().All() {
		if i == maxInfo {
			break
		}
		e.Info = append(e.Info, bounded(line))
	}
	return e
}

// bounded returns a copy of s of at most maxMessage bytes.
func bounded(s string) string {
	if len(s) > maxMessage {
		return strings.ToValidUTF8(s[:maxMessage], "") + "…"
	}
	return strings.Clone(s)
}
