package main

import (
	"context"
	"errors"
	"time"

	"github.com/segmentio/kafka-go"
)

// transact commits offsets in transactions, by single requests: this client has no producer for them. The transactions
// that end with an abort leave nothing, and an older epoch is fenced.
func transact(ctx context.Context, client *kafka.Client, topic string) {
	id := "copier-of-" + topic
	group := "copiers-of-" + topic
	session := begin(ctx, client, id)
	commitInTransaction(ctx, client, session, id, group, topic, 7)
	must(end(ctx, client, session, id, true), "commit of a transaction")
	awaitCommitted(ctx, client, group, topic, 7)
	commitInTransaction(ctx, client, session, id, group, topic, 9)
	must(end(ctx, client, session, id, false), "abort of a transaction")
	awaitCommitted(ctx, client, group, topic, 7)

	younger := begin(ctx, client, id)
	fenced := end(ctx, client, session, id, true)
	check(errors.Is(fenced, kafka.InvalidProducerEpoch) || errors.Is(fenced, kafka.Error(90)), "an old epoch: %v", fenced)
	commitInTransaction(ctx, client, younger, id, group, topic, 11)
	must(end(ctx, client, younger, id, true), "commit of a transaction")
	awaitCommitted(ctx, client, group, topic, 11)
}

// begin asks for the transactional id's next epoch until what it had open is ended.
func begin(ctx context.Context, client *kafka.Client, id string) *kafka.ProducerSession {
	for {
		response, err := client.InitProducerID(ctx, &kafka.InitProducerIDRequest{
			TransactionalID: id, TransactionTimeoutMs: 60_000, ProducerID: -1, ProducerEpoch: -1,
		})
		must(err, "producer id")
		if response.Error == nil {
			return response.Producer
		}
		retry(ctx, response.Error, "producer id")
	}
}

// retry waits a little when an error says that the last transaction is still being ended.
func retry(ctx context.Context, err error, what string) {
	again := errors.Is(err, kafka.Error(51)) || errors.Is(err, kafka.GroupLoadInProgress) ||
		errors.Is(err, kafka.GroupCoordinatorNotAvailable)
	check(again && ctx.Err() == nil, "%s: %v", what, err)
	time.Sleep(20 * time.Millisecond)
}

func commitInTransaction(ctx context.Context, client *kafka.Client, session *kafka.ProducerSession, id, group, topic string,
	offset int64) {
	for {
		added, err := client.AddOffsetsToTxn(ctx, &kafka.AddOffsetsToTxnRequest{
			TransactionalID: id, ProducerID: session.ProducerID, ProducerEpoch: session.ProducerEpoch, GroupID: group,
		})
		must(err, "offsets in a transaction")
		if added.Error == nil {
			break
		}
		retry(ctx, added.Error, "offsets in a transaction")
	}
	response, err := client.TxnOffsetCommit(ctx, &kafka.TxnOffsetCommitRequest{
		TransactionalID: id, GroupID: group, ProducerID: session.ProducerID, ProducerEpoch: session.ProducerEpoch,
		GenerationID: -1,
		Topics:       map[string][]kafka.TxnOffsetCommit{topic: {{Partition: 0, Offset: offset}}},
	})
	must(err, "commit in a transaction")
	must(response.Topics[topic][0].Error, "commit in a transaction")
}

func end(ctx context.Context, client *kafka.Client, session *kafka.ProducerSession, id string, commit bool) error {
	response, err := client.EndTxn(ctx, &kafka.EndTxnRequest{
		TransactionalID: id, ProducerID: session.ProducerID, ProducerEpoch: session.ProducerEpoch, Committed: commit,
	})
	must(err, "end of a transaction")
	return response.Error
}

// awaitCommitted waits until the transaction's end has reached the group.
func awaitCommitted(ctx context.Context, client *kafka.Client, group, topic string, expected int64) {
	for {
		response, err := client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{
			GroupID: group, Topics: map[string][]int{topic: {0}},
		})
		must(err, "committed offset")
		found := response.Topics[topic][0].CommittedOffset
		if found == expected {
			return
		}
		check(ctx.Err() == nil, "offset %d is committed, not %d", found, expected)
		time.Sleep(20 * time.Millisecond)
	}
}
