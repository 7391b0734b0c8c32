package kerberos

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/iana/patype"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// This file asks KDCs for tickets, RFC 4120, sections 3.1 and 3.3. gokrb5 has a client, too: it
// allocates what a KDC says that its answer has, up to 4 GB, and it renews tickets in goroutines
// of its own, where a malformed answer is a panic that ends the program.

const (
	maxAnswer    = 1 << 20         // bytes of a KDC's answer, as in MIT's library
	udpTime      = 2 * time.Second // for an answer over UDP; then TCP is tried
	tcpTime      = 5 * time.Second
	maxReferrals = 5 // from one realm to the next
)

// A grant is a ticket that a KDC has granted to a client.
type grant struct {
	ticket messages.Ticket
	key    types.EncryptionKey
	from   time.Time
	until  time.Time
}

// A kdcClient asks KDCs on behalf of a principal.
type kdcClient struct {
	conf    *config.Config
	who     *credentials.Credentials
	initial grant // with which others are asked for; renewed if who has a keytab
}

// renew gets an initial ticket by a key of the keytab.
func (k *kdcClient) renew(ctx context.Context) (grant, error) {
	r, err := messages.NewASReqForTGT(k.who.Domain(), k.conf, k.who.CName())
	if err != nil {
		return grant{}, err
	}
	b, err := r.Marshal()
	if err != nil {
		return grant{}, err
	}
	answer, err := k.send(ctx, k.who.Domain(), b)
	var refused messages.KRBError
	if errors.As(err, &refused) && refused.ErrorCode == errorcode.KDC_ERR_PREAUTH_REQUIRED {
		proof, err := k.timestamp(refused)
		if err != nil {
			return grant{}, err
		}
		r.PAData = append(r.PAData, proof)
		if b, err = r.Marshal(); err != nil {
			return grant{}, err
		}
		answer, err = k.send(ctx, k.who.Domain(), b)
		if err != nil {
			return grant{}, err
		}
	} else if err != nil {
		return grant{}, err
	}
	var reply messages.ASRep
	if err := reply.Unmarshal(answer); err != nil {
		return grant{}, fmt.Errorf("the KDC's answer: %w", err)
	}
	if ok, err := reply.Verify(k.conf, k.who, r); !ok {
		return grant{}, fmt.Errorf("the KDC's answer: %w", err)
	}
	return granted(reply.Ticket, reply.DecryptedEncPart), nil
}

func granted(t messages.Ticket, part messages.EncKDCRepPart) grant {
	from := part.StartTime
	if from.IsZero() {
		from = part.AuthTime
	}
	return grant{t, part.Key, from, part.EndTime}
}

// timestamp returns the time, encrypted with a key that the KDC takes: RFC 4120, section 5.2.7.2.
func (k *kdcClient) timestamp(refused messages.KRBError) (types.PAData, error) {
	var offers types.PADataSequence
	if err := offers.Unmarshal(refused.EData); err != nil {
		return types.PAData{}, fmt.Errorf("the KDC's answer: %w", err)
	}
	for _, offer := range offers {
		if offer.PADataType != patype.PA_ETYPE_INFO2 {
			continue
		}
		infos, err := offer.GetETypeInfo2()
		if err != nil {
			return types.PAData{}, fmt.Errorf("the KDC's answer: %w", err)
		}
		for _, info := range infos {
			key, version, err := k.who.Keytab().GetEncryptionKey(k.who.CName(), k.who.Domain(), 0, info.EType)
			if err != nil {
				continue
			}
			if _, err := modern(key); err != nil {
				continue
			}
			return encryptedTime(key, version)
		}
	}
	return types.PAData{}, errNoCommonKey
}

var errNoCommonKey = errors.New("kerberos: the keytab has no AES key that the KDC takes: write a new keytab")

func encryptedTime(key types.EncryptionKey, version int) (types.PAData, error) {
	now, err := types.GetPAEncTSEncAsnMarshalled()
	if err != nil {
		return types.PAData{}, err
	}
	sealed, err := crypto.GetEncryptedData(now, key, keyusage.AS_REQ_PA_ENC_TIMESTAMP, version)
	if err != nil {
		return types.PAData{}, err
	}
	b, err := sealed.Marshal()
	return types.PAData{PADataType: patype.PA_ENC_TIMESTAMP, PADataValue: b}, err
}

// service gets a ticket for a service. It follows referrals to other realms: RFC 6806, section 8.
func (k *kdcClient) service(ctx context.Context, spn string) (grant, error) {
	if left := time.Until(k.initial.until); k.who.HasKeytab() && left < k.initial.until.Sub(k.initial.from)/6 {
		t, err := k.renew(ctx)
		if err != nil {
			return grant{}, err
		}
		k.initial = t
	}
	t := k.initial
	name := types.NewPrincipalName(nametype.KRB_NT_PRINCIPAL, spn)
	realm := k.who.Domain()
	if of := k.conf.ResolveRealm(name.NameString[len(name.NameString)-1]); of != "" && of != realm {
		var err error
		if t, err = k.exchange(ctx, realm, t, types.PrincipalName{NameType: nametype.KRB_NT_SRV_INST, NameString: []string{"krbtgt", of}}); err != nil {
			return grant{}, err
		}
		realm = of
	}
	for range maxReferrals {
		got, err := k.exchange(ctx, realm, t, name)
		if err != nil {
			return grant{}, err
		}
		to := got.ticket.SName.NameString
		if len(to) != 2 || to[0] != "krbtgt" || got.ticket.SName.Equal(name) {
			return got, nil
		}
		realm, t = to[1], got
	}
	return grant{}, fmt.Errorf("KDCs have referred to other realms more than %d times", maxReferrals)
}

// exchange gets a ticket for a name from the KDCs of a realm, for which t is.
func (k *kdcClient) exchange(ctx context.Context, realm string, t grant, name types.PrincipalName) (grant, error) {
	r, err := messages.NewTGSReq(k.who.CName(), realm, k.conf, t.ticket, t.key, name, false)
	if err != nil {
		return grant{}, err
	}
	b, err := r.Marshal()
	if err != nil {
		return grant{}, err
	}
	answer, err := k.send(ctx, realm, b)
	if err != nil {
		return grant{}, fmt.Errorf("requesting for %s: %w", name.PrincipalNameString(), err)
	}
	var reply messages.TGSRep
	if err := reply.Unmarshal(answer); err != nil {
		return grant{}, fmt.Errorf("the KDC's answer: %w", err)
	}
	if err := reply.DecryptEncPart(t.key); err != nil {
		return grant{}, fmt.Errorf("the KDC's answer: %w", err)
	}
	if ok, err := reply.Verify(k.conf, r); !ok {
		return grant{}, fmt.Errorf("the KDC's answer: %w", err)
	}
	return granted(reply.Ticket, reply.DecryptedEncPart), nil
}

// send asks the KDCs of a realm, one after the other, and returns the first answer. If that is an
// error of Kerberos, it returns a messages.KRBError. UDP comes first, except for messages larger
// than udp_preference_limit of krb5.conf; if that is 1, there is TCP alone.
func (k *kdcClient) send(ctx context.Context, realm string, message []byte) ([]byte, error) {
	networks := []string{"udp", "tcp"}
	switch limit := k.conf.LibDefaults.UDPPreferenceLimit; {
	case limit == 1:
		networks = []string{"tcp"}
	case len(message) > limit:
		networks = []string{"tcp", "udp"}
	}
	var failed error
	for _, network := range networks {
		_, kdcs, err := k.conf.GetKDCs(realm, network == "tcp")
		if err != nil {
			return nil, err
		}
		for i := 1; i <= len(kdcs); i++ { // they are numbered from 1
			answer, err := ask(ctx, network, kdcs[i], message)
			var refused messages.KRBError
			switch {
			case err != nil:
				failed = errors.Join(failed, fmt.Errorf("%s, %s: %w", kdcs[i], network, err))
			case refused.Unmarshal(answer) != nil:
				return answer, nil
			case network == "udp" && refused.ErrorCode == errorcode.KRB_ERR_RESPONSE_TOO_BIG:
				failed = errors.Join(failed, refused)
			default:
				return nil, refused
			}
		}
	}
	return nil, fmt.Errorf("communication with the KDCs of %s: %w", realm, failed)
}

// ask sends a message to a KDC and returns its answer, of at most maxAnswer bytes.
func ask(ctx context.Context, network, addr string, message []byte) ([]byte, error) {
	limit := tcpTime
	if network == "udp" {
		limit = udpTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if network == "udp" {
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
