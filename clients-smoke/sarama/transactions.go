package main

import (
	"errors"
	"slices"
	"time"

	"github.com/IBM/sarama"
)

const perTransaction = 100

func transactional(id string) sarama.AsyncProducer {
	settings := config()
	settings.Producer.Idempotent = true
	settings.Producer.Transaction.ID = id
	settings.Net.MaxOpenRequests = 1
	producer, err := sarama.NewAsyncProducer(brokers(), settings)
	must(err, "transactional producer")
	return producer
}

func send(producer sarama.AsyncProducer, topic, key string) {
	producer.Input() <- &sarama.ProducerMessage{Topic: topic, Key: sarama.StringEncoder(key)}
}

// drain waits until count messages are acknowledged.
func drain(producer sarama.AsyncProducer, count int) {
	for range count {
		select {
		case <-producer.Successes():
		case failed := <-producer.Errors():
			check(false, "produce in a transaction: %v", failed)
		case <-time.After(limit):
			check(false, "a message in a transaction is not acknowledged")
		}
	}
}

// transact copies in transactions with the offsets that were read; of two producers with one id the younger goes on.
func transact(client sarama.Client, topic, copies string) {
	consumer, err := sarama.NewConsumerFromClient(client)
	must(err, "consumer")
	reading, err := consumer.ConsumePartition(topic, 0, sarama.OffsetOldest)
	must(err, "consume")
	group := "copiers-of-" + topic
	old := transactional("copier-of-" + topic)
	expected := []string{}
	committed := int64(0)
	for round := range 3 {
		must(old.BeginTxn(), "begin")
		keys := []string{}
		for range perTransaction {
			message := <-reading.Messages()
			send(old, copies, string(message.Key))
			must(old.AddMessageToTxn(message, group, nil), "offset in a transaction")
			keys = append(keys, string(message.Key))
			if round != 1 {
				committed = message.Offset + 1
			}
		}
		drain(old, perTransaction)
		if round == 1 {
			must(old.AbortTxn(), "abort")
		} else {
			must(old.CommitTxn(), "commit")
			expected = append(expected, keys...)
		}
	}
	must(reading.Close(), "close of a partition")

	must(old.BeginTxn(), "begin")
	send(old, copies, "of a fenced producer")
	drain(old, 1)
	young := transactional("copier-of-" + topic)
	must(young.BeginTxn(), "begin")
	send(young, copies, "last")
	drain(young, 1)
	must(young.CommitTxn(), "commit")
	must(young.Close(), "close of a producer")
	fenced := old.CommitTxn()
	check(errors.Is(fenced, sarama.ErrProducerFenced) || errors.Is(fenced, sarama.ErrInvalidProducerEpoch) ||
		errors.Is(fenced, sarama.ErrFencedInstancedId), "a fenced producer: %v", fenced)
	old.AsyncClose()

	expected = append(expected, "last")
	read := readCommitted(copies, len(expected))
	slices.Sort(expected)
	slices.Sort(read)
	check(slices.Equal(expected, read), "%d copied, %d read", len(expected), len(read))
	checkCommitted(client, topic, group, committed)
}

// readCommitted reads committed messages of a topic until there are count, and whatever comes right after.
func readCommitted(topic string, count int) []string {
	settings := config()
	settings.Consumer.IsolationLevel = sarama.ReadCommitted
	consumer, err := sarama.NewConsumer(brokers(), settings)
	must(err, "consumer")
	all := make(chan string)
	for partition := range int32(partitions) {
		reading, err := consumer.ConsumePartition(topic, partition, sarama.OffsetOldest)
		must(err, "consume")
		go func() {
			for message := range reading.Messages() {
				all <- string(message.Key)
			}
		}()
	}
	read := []string{}
	wait := limit
	for {
		select {
		case key := <-all:
			read = append(read, key)
			if len(read) >= count {
				wait = time.Second
			}
		case <-time.After(wait):
			return read
		}
	}
}

func checkCommitted(client sarama.Client, topic, group string, expected int64) {
	manager, err := sarama.NewOffsetManagerFromClient(group, client)
	must(err, "offset manager")
	partition, err := manager.ManagePartition(topic, 0)
	must(err, "committed offset")
	offset, _ := partition.NextOffset()
	check(offset == expected, "offset %d was committed, the group has %d", expected, offset)
	must(manager.Close(), "close of the offset manager")
}
