package kerberos

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/messages"
)

// This file carries messages to KDCs and back, RFC 4120, section 7.2.

const (
	maxAnswer = 1 << 20         // bytes of a KDC's answer, as in MIT's library
	udpTime   = 2 * time.Second // for an answer over UDP; then TCP is tried
	tcpTime   = 5 * time.Second
)

// send asks the KDCs of a realm, one after the other, until read takes an answer. If that is an
// error of Kerberos, send returns a messages.KRBError. UDP comes first, except for messages larger
// than udp_preference_limit of krb5.conf; if that is 1, there is TCP alone.
func (k *kdcClient) send(ctx context.Context, realm string, message []byte, read func([]byte) error) error {
	addrs, err := k.addrs(ctx, realm, len(message))
	if err != nil {
		return err
	}
	var failed []string
	for i, addr := range addrs {
		answer, err := ask(ctx, addr, message, len(addrs)-i)
		if err == nil {
			if err = judge(answer, read); err == nil {
				return nil
			}
			var refused messages.KRBError
			if errors.As(err, &refused) && !isPassing(refused.ErrorCode) {
				return refused
			}
		}
		failed = append(failed, fmt.Sprintf("%s, %s: %v", addr.host, addr.network, err))
	}
	return fmt.Errorf("communication with the KDCs of %s: %s", realm, strings.Join(failed, "; "))
}

// isPassing reports whether another KDC, or TCP in place of UDP, may have a better answer.
func isPassing(code int32) bool {
	return code == errorcode.KRB_ERR_RESPONSE_TOO_BIG || code == errorcode.KDC_ERR_SVC_UNAVAILABLE || code == errorcode.KRB_ERR_GENERIC
}

// judge returns the error in an answer, a messages.KRBError, or that of read.
func judge(answer []byte, read func([]byte) error) (err error) {
	defer survive(&err)
	var refused messages.KRBError
	if refused.Unmarshal(answer) == nil {
		return refused
	}
	if err := read(answer); err != nil {
		return fmt.Errorf("the KDC's answer: %w", err)
	}
	return nil
}

// A kdcAddr is where a KDC may answer.
type kdcAddr struct{ network, host string }

// addrs returns where to ask, in this order. There is at least one.
func (k *kdcClient) addrs(ctx context.Context, realm string, size int) (addrs []kdcAddr, err error) {
	networks := []string{"udp", "tcp"}
	switch limit := k.conf.LibDefaults.UDPPreferenceLimit; {
	case limit == 1:
		networks = []string{"tcp"}
	case size > limit:
		networks = []string{"tcp", "udp"}
	}
	var missing error
	for _, network := range networks {
		hosts, err := k.hosts(ctx, network, realm)
		if err != nil {
			missing = err
		}
		for _, host := range hosts {
			addrs = append(addrs, kdcAddr{network, host})
		}
	}
	switch {
	case len(addrs) > 0:
	case missing == nil:
		return nil, fmt.Errorf("no KDC of the realm %q", realm)
	default:
		return nil, fmt.Errorf("no KDC of the realm %q: %w", realm, missing)
	}
	return addrs, nil
}

// hosts returns the KDCs of a realm in krb5.conf, in any order, or else those that DNS names.
// gokrb5 would ask DNS without a context.
func (k *kdcClient) hosts(ctx context.Context, network, realm string) (hosts []string, err error) {
	conf := *k.conf
	conf.LibDefaults.DNSLookupKDC = false
	_, kdcs, err := conf.GetKDCs(realm, network == "tcp")
	if err == nil || !k.conf.LibDefaults.DNSLookupKDC {
		for i := 1; i <= len(kdcs); i++ { // they are numbered from 1
			hosts = append(hosts, kdcs[i])
		}
		return hosts, err
	}
	_, records, err := net.DefaultResolver.LookupSRV(ctx, "kerberos", network, strings.TrimSuffix(realm, ".")+".")
	for _, r := range records {
		if r.Target != "." { // which says that there is none
			hosts = append(hosts, net.JoinHostPort(strings.TrimSuffix(r.Target, "."), strconv.Itoa(int(r.Port))))
		}
	}
	return hosts, err
}

// ask sends a message to a KDC and returns its answer, of at most maxAnswer bytes. If left KDCs
// are to be asked, with this one, they share the time.
func ask(ctx context.Context, addr kdcAddr, message []byte, left int) ([]byte, error) {
	limit := tcpTime
	if addr.network == "udp" {
		limit = udpTime
	}
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(end)/time.Duration(left))
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, addr.network, addr.host)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if addr.network == "udp" {
		answer := make([]byte, 64<<10)
		if _, err := conn.Write(message); err != nil {
			return nil, err
		}
		n, err := conn.Read(answer)
		return answer[:n], err
	}
	if _, err := conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...)); err != nil {
		return nil, err
	}
	var size [4]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > maxAnswer {
		return nil, fmt.Errorf("an answer of %d bytes, more than %d", n, maxAnswer)
	}
	answer := make([]byte, n)
	_, err = io.ReadFull(conn, answer)
	return answer, err
}
