// Topic administration, produce and consumer groups with franz-go against the broker at $JOURNALQ_BOOTSTRAP.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	partitions = 3
	count      = 1000
	limit      = 60 * time.Second
)

func check(holds bool, format string, values ...any) {
	if !holds {
		fmt.Fprintf(os.Stderr, format+"\n", values...)
		os.Exit(1)
	}
}

func client(options ...kgo.Opt) *kgo.Client {
	made, err := kgo.NewClient(append(options, kgo.SeedBrokers(os.Getenv("JOURNALQ_BOOTSTRAP")))...)
	check(err == nil, "client: %v", err)
	return made
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

	producer := client(kgo.DefaultProduceTopic(topic), kgo.ProducerBatchCompression(kgo.Lz4Compression()))
	admin := kadm.NewClient(producer)
	_, err := admin.CreateTopic(ctx, partitions, 1, nil, topic)
	check(err == nil, "create: %v", err)
	records := make([]*kgo.Record, count)
	for i := range records {
		records[i] = &kgo.Record{Key: fmt.Appendf(nil, "k%d", i), Value: fmt.Appendf(nil, "v%d", i)}
	}
	check(producer.ProduceSync(ctx, records...).FirstErr() == nil, "produce failed")

	seen := read(ctx, topic, group, count)
	for i := range count {
		check(seen[fmt.Sprintf("v%d", i)] == fmt.Sprintf("k%d", i), "message %d is missing", i)
	}
	lag, err := admin.Lag(ctx, group)
	check(err == nil, "lag: %v", err)
	check(lag[group].Lag.Total() == 0, "lag: %d", lag[group].Lag.Total())
	check(len(read(ctx, topic, group, 0)) == 0, "messages came again")

	_, err = admin.DeleteGroups(ctx, group)
	check(err == nil, "delete: %v", err)
	_, err = admin.DeleteTopics(ctx, topic)
	check(err == nil, "delete: %v", err)
	producer.Close()
	fmt.Printf("franz-go: %d messages produced, read by a group, not read again\n", count)
}
