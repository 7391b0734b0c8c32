// Package kerberos lets clients and servers of package rpc log in by Kerberos: the SASL mechanism
// GSSAPI with its layers for integrity and encryption, and SPNEGO over HTTP.
//
// A client's tickets come from a keytab or from the cache that kinit writes:
//
//	credentials, err := kerberos.FromKeytab("/etc/ada.keytab", "ada@EXAMPLE.COM")
//	…
//	client, err := rpc.Dial(ctx, "tcp", "hms.example.com:9083",
//		rpc.SASL(kerberos.NewClient(credentials, "hive", "hms.example.com", kerberos.AuthConf)))
//
// A server has a keytab with the keys of its own principal:
//
//	acceptor, err := kerberos.NewAcceptor("/etc/store.keytab")
//	…
//	server.SASL = func(ctx context.Context, mechanism string) rpc.SASLServer {
//		if mechanism != kerberos.Mechanism {
//			return nil
//		}
//		return acceptor.NewServer(kerberos.AuthConf, func(principal, as string) error { … })
//	}
//
// The nouns: [Credentials] are who a client is. An [Acceptor] verifies clients. [Client] and
// [Server] are the two sides of a login. A [QOP] says what becomes of messages afterwards.
//
// # What is supported
//
// Keys of AES (encryption types 17 to 20, RFC 3962 and RFC 8009), as far as krb5.conf permits
// them to clients. RC4 and DES are refused. The client always makes the server prove who it is;
// over HTTP, TLS must do that.
// Clocks may differ by 5 minutes. A server remembers logins for 10 minutes, and refuses them if
// they come again. It does not remember those of other processes with the same keytab, or of its
// own before a restart. There are no bindings to channels of TLS, no delegation, and no tickets
// for addresses.
//
// A client follows KDCs to other realms. A server takes tickets that a KDC of its realm has
// issued, also to clients of other realms. It does not check the realms in between (the field
// transited of RFC 4120, section 2.7): its KDC does so, unless it is told otherwise. authorize
// must compare the realm in the principal.
//
// Each message is wrapped as a whole, as by Apache's TSaslTransport, whatever size of buffers the
// sides have named. auth-conf costs time: use TLS and auth where you can choose.
//
// Errors that say "kerberos: " begin with what to do. If a server says only "authentication
// failed", the reason is in its log.
//
// Anyone between a client and a KDC can change its answers, which only keys protect. The client
// compares names, realms, times and the nonce in them to what it has asked for: RFC 4120, sections
// 3.1.5 and 3.3.4. An answer may have 1 MiB. What is malformed is an error.
// github.com/jcmturner/gokrb5 reads the messages.
package kerberos
