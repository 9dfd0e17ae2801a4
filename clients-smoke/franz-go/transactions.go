package main

import (
	"context"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

const rounds = 4

// copier reads a topic as a member of a group, of whichever protocol the client prefers, and copies in transactions.
func copier(id, group, topic string) *kgo.GroupTransactSession {
	session, err := kgo.NewGroupTransactSession(append(connection(),
		kgo.TransactionalID(id),
		kgo.ConsumerGroup(group),
		kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.RequireStableFetchOffsets(),
	)...)
	check(err == nil, "transactional session: %v", err)
	return session
}

// transact copies a topic; every other transaction is aborted, and what was in it is read and copied again.
func transact(ctx context.Context, admin *kadm.Client, topic string, count int) {
	copies := topic + "-copies"
	group := "copiers-of-" + topic
	_, err := admin.CreateTopic(ctx, partitions, 1, nil, copies)
	check(err == nil, "create: %v", err)
	aborted := 0
	copied := 0
	for restart := 0; copied < count; restart++ {
		// Each round is another instance with the same id: it fences the one before, and goes on behind what that committed.
		session := copier("copier-of-"+topic, group, topic)
		for round := 0; round < rounds && copied < count; {
			check(ctx.Err() == nil, "%d of %d messages copied", copied, count)
			waiting, cancel := context.WithTimeout(ctx, 5*time.Second)
			records := session.PollRecords(waiting, count/(2*rounds)).Records()
			cancel()
			if len(records) == 0 {
				continue
			}
			check(session.Begin() == nil, "begin failed")
			for _, record := range records {
				session.Produce(ctx, &kgo.Record{Topic: copies, Key: record.Key, Value: record.Value}, nil)
			}
			try := round%2 == 1
			committed, err := session.End(ctx, kgo.TransactionEndTry(try))
			check(err == nil, "end of a transaction: %v", err)
			check(committed == try, "committed: %v, where %v was asked for", committed, try)
			if committed {
				copied += len(records)
			} else {
				aborted++
			}
			round++
		}
		session.Close()
	}
	check(aborted > 0, "no transaction was aborted")

	values := readCommitted(ctx, copies, count)
	slices.Sort(values)
	check(len(slices.Compact(values)) == count, "messages were copied twice")
	_, err = admin.DeleteTopics(ctx, copies)
	check(err == nil, "delete: %v", err)
}

// readCommitted reads committed messages until there are count, and whatever comes in the second after.
func readCommitted(ctx context.Context, topic string, count int) []string {
	reader := client(
		kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
	)
	defer reader.Close()
	values := []string{}
	for {
		check(ctx.Err() == nil, "%d of %d copies read", len(values), count)
		waiting, cancel := context.WithTimeout(ctx, time.Second)
		records := reader.PollFetches(waiting).Records()
		cancel()
		for _, record := range records {
			values = append(values, string(record.Value))
		}
		if len(records) == 0 && len(values) >= count {
			check(len(values) == count, "%d copies of %d messages", len(values), count)
			return values
		}
	}
}
