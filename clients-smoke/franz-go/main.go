// Topic administration, produce, consumer groups and transactions with franz-go against the broker at $JOURNALQ_BOOTSTRAP.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

const (
	partitions = 3
	count      = 1000
	limit      = 60 * time.Second
)

var codecs = []kgo.CompressionCodec{
	kgo.NoCompression(),
	kgo.GzipCompression(),
	kgo.SnappyCompression(),
	kgo.Lz4Compression(),
	kgo.ZstdCompression(),
}

func check(holds bool, format string, values ...any) {
	if !holds {
		fmt.Fprintf(os.Stderr, format+"\n", values...)
		os.Exit(1)
	}
}

func bootstrap() string {
	return os.Getenv("JOURNALQ_BOOTSTRAP")
}

// connection returns the address of the broker, the keys of $SMOKE_TLS, and the login of $SMOKE_SASL, if they are set.
func connection() []kgo.Opt {
	options := []kgo.Opt{kgo.SeedBrokers(bootstrap())}
	keys := os.Getenv("SMOKE_TLS")
	if keys == "" {
		return options
	}
	authority, err := os.ReadFile(keys + "/authority.pem")
	check(err == nil, "authority: %v", err)
	trusted := x509.NewCertPool()
	check(trusted.AppendCertsFromPEM(authority), "authority.pem has no certificate")
	if name := os.Getenv("SMOKE_SASL"); name != "" {
		return append(options, kgo.DialTLSConfig(&tls.Config{RootCAs: trusted}), kgo.SASL(mechanism(name, keys)))
	}
	own, err := tls.LoadX509KeyPair(keys+"/client.crt", keys+"/client.key")
	check(err == nil, "certificate: %v", err)
	return append(options, kgo.DialTLSConfig(&tls.Config{RootCAs: trusted, Certificates: []tls.Certificate{own}}))
}

func mechanism(name, keys string) sasl.Mechanism {
	content, err := os.ReadFile(keys + "/password")
	check(err == nil, "password: %v", err)
	password := strings.TrimSpace(string(content))
	switch name {
	case "PLAIN":
		return plain.Auth{User: "smoke", Pass: password}.AsMechanism()
	case "SCRAM-SHA-256":
		return scram.Auth{User: "smoke", Pass: password}.AsSha256Mechanism()
	default:
		return scram.Auth{User: "smoke", Pass: password}.AsSha512Mechanism()
	}
}

func client(options ...kgo.Opt) *kgo.Client {
	made, err := kgo.NewClient(append(options, connection()...)...)
	check(err == nil, "client: %v", err)
	return made
}

// produce sends the same number of messages in each codec, by an idempotent producer each.
func produce(ctx context.Context, topic string) {
	for i, codec := range codecs {
		producer := client(kgo.DefaultProduceTopic(topic), kgo.ProducerBatchCompression(codec))
		records := make([]*kgo.Record, count/len(codecs))
		for j := range records {
			number := i*len(records) + j
			records[j] = &kgo.Record{Key: fmt.Appendf(nil, "k%d", number), Value: fmt.Appendf(nil, "v%d", number)}
		}
		check(producer.ProduceSync(ctx, records...).FirstErr() == nil, "produce failed")
		producer.Close()
	}
}

// read reads as a member of a group until it has what it expects and nothing more comes, commits, and leaves.
func read(ctx context.Context, topic, group string, expected int) map[string]string {
	member := client(
		kgo.ConsumerGroup(group),
		kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
		kgo.Balancers(kgo.CooperativeStickyBalancer()),
	)
	defer member.Close()
	seen := map[string]string{}
	quiet := 0
	for len(seen) < expected || quiet < 3 {
		check(ctx.Err() == nil, "%d of %d messages: %v", len(seen), expected, ctx.Err())
		waiting, cancel := context.WithTimeout(ctx, time.Second)
		fetches := member.PollFetches(waiting)
		cancel()
		quiet++
		fetches.EachRecord(func(record *kgo.Record) {
			quiet = 0
			_, twice := seen[string(record.Value)]
			check(!twice, "%s came twice", record.Value)
			seen[string(record.Value)] = string(record.Key)
		})
	}
	check(member.CommitUncommittedOffsets(ctx) == nil, "commit failed")
	return seen
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*limit)
	defer cancel()
	topic := fmt.Sprintf("franz-go-%d", time.Now().UnixMilli())
	group := "group-of-" + topic

	administrator := client()
	admin := kadm.NewClient(administrator)
	_, err := admin.CreateTopic(ctx, partitions, 1, nil, topic)
	check(err == nil, "create: %v", err)
	produce(ctx, topic)

	seen := read(ctx, topic, group, count)
	for i := range count {
		check(seen[fmt.Sprintf("v%d", i)] == fmt.Sprintf("k%d", i), "message %d is missing", i)
	}
	lag, err := admin.Lag(ctx, group)
	check(err == nil, "lag: %v", err)
	check(lag[group].Lag.Total() == 0, "lag: %d", lag[group].Lag.Total())
	check(len(read(ctx, topic, group, 0)) == 0, "messages came again")
	transact(ctx, admin, topic, count)

	_, err = admin.DeleteGroups(ctx, group)
	check(err == nil, "delete: %v", err)
	_, err = admin.DeleteTopics(ctx, topic)
	check(err == nil, "delete: %v", err)
	administrator.Close()
	fmt.Printf("franz-go: %d messages in %d codecs, read by a group, not read again; copied in transactions\n",
		count, len(codecs))
}
