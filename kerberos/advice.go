package kerberos

import (
	"errors"
	"fmt"
	"strings"
)

// This file turns errors of Kerberos into ones that say what to do.

const noKDC = "no KDC answers: look at kdc in krb5.conf, and whether a firewall lets port 88 through (UDP and TCP)"

// advice is what to do about errors whose text has a word, the name of an error in RFC 4120,
// section 7.5.9, or a text of gokrb5. The first that fits counts.
var advice = []struct{ word, do string }{
	{"KDC_ERR_SVC_UNAVAILABLE", "the KDC can't answer now: its log says why"},
	{"KRB_ERR_GENERIC", "the KDC has failed: its log says why"},
	{"no trust of the realm", "the KDC does not know the service's realm: look at domain_realm in krb5.conf, and whether the realms trust each other"},
	{"KDC_ERR_C_PRINCIPAL_UNKNOWN", "the KDC does not know the client: look at its name and realm"},
	{"KDC_ERR_S_PRINCIPAL_UNKNOWN", "the KDC does not know the service: connect to the host by the full name in its principal, and look at the service's name (hive, impala, hbase …)"},
	{"KDC_ERR_WRONG_REALM", "the client is of another realm: look at default_realm and the principal's realm"},
	{"KDC_ERR_PREAUTH_FAILED", "the key is not the one that the KDC has: write a new keytab"},
	{"decrypting EncPart of AS_REP", "the key is not the one that the KDC has: write a new keytab"},
	{"KDC_ERR_ETYPE_NOSUPP", "client and KDC have no encryption in common: look at permitted_enctypes; it takes AES"},
	{"KDC_ERR_CLIENT_REVOKED", "the client's account is locked"},
	{"KDC_ERR_KEY_EXPIRED", "the client's password has expired"},
	{"KRB_AP_ERR_SKEW", "the clocks of client, server and KDC differ by more than 5 minutes: set them (NTP)"},
	{"clock skew", "the clocks of client, server and KDC differ by more than 5 minutes: set them (NTP)"},
	{"KRB_AP_ERR_TKT_EXPIRED", "the ticket has expired: run kinit again; or the clocks differ"},
	{"KRB_AP_ERR_TKT_NYV", "the ticket is not valid yet: the clocks differ"},
	{"KRB_AP_ERR_NOKEY", "the keytab has no key for the ticket's service with this version and encryption: compare klist -kte with the service's principal, and write a new keytab"},
	{"KRB_AP_ERR_BADADDR", "the ticket is for some addresses alone: set noaddresses = true in krb5.conf, and run kinit again"},
	{"KRB_AP_ERR_BAD_INTEGRITY", "a key is another one than the KDC's: write a new keytab"},
	{"decrypting Ticket EncPart", "the keytab's key is another one than the KDC's: write a new keytab"},
	{"KRB_AP_ERR_MODIFIED", "the service has another key than the KDC: write a new keytab for it"},
	{"the KDC gives a ticket for", "the KDC calls the service otherwise: use that name"},
	{"krb5.conf does not permit", "client and KDC have no encryption in common: look at permitted_enctypes; it takes AES"},
	{"neither AES nor safe", "RC4 and DES do not work: give the principals AES keys (types 17 to 20) in the KDC, and write new keytabs"},
	{"no AES key that the KDC takes", "client and KDC have no encryption in common: write a new keytab, with AES keys; or look at permitted_enctypes"},
	{"no KDC of the realm", "krb5.conf names no KDC for this realm, and DNS has no SRV record or was not asked (dns_lookup_kdc): add it to [realms]; or the realm is misspelled"},
	{"an answer of", "what answers is no KDC: look at kdc in krb5.conf"},
	{"the KDC's answer", "what answers is no KDC, or somebody changes its answers: look at kdc in krb5.conf"},
	{"malformed: ", "what answers is no KDC, or somebody changes its answers: look at kdc in krb5.conf"},
	{"communication with the KDCs", noKDC},
}

// adviceError is an error of Kerberos with its advice.
type adviceError struct {
	err error
	do  string
}

func (e *adviceError) Error() string {
	return "kerberos: " + e.do + " (" + shortened(strings.TrimPrefix(e.err.Error(), "kerberos: ")) + ")"
}
func (e *adviceError) Unwrap() error { return e.err }

// advised returns err with what to do about it.
func advised(err error) error {
	var have *adviceError
	if err == nil || errors.As(err, &have) {
		return err
	}
	text := err.Error()
	for _, a := range advice {
		if strings.Contains(text, a.word) {
			return &adviceError{err, a.do}
		}
	}
	if strings.HasPrefix(text, "kerberos: ") {
		return err
	}
	return &adviceError{err, "Kerberos has failed"}
}

// within says where an error was. The text begins with the package's name, once.
func within(where string, err error) error {
	var have *adviceError
	switch {
	case errors.As(err, &have):
		return &adviceError{fmt.Errorf("%s: %w", where, have.err), have.do}
	case strings.HasPrefix(err.Error(), "kerberos: "):
		return err
	}
	return fmt.Errorf("kerberos: %s: %w", where, err)
}

// shortened returns the beginning of a text, on one line.
func shortened(text string) string {
	const most = 400
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + " …"
	}
	return text
}
