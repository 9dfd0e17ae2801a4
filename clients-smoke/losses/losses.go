// An idempotent franz-go producer while the broker is killed: creates a topic and the file $LOSSES_READY, sends until the
// file $LOSSES_STOP is there, then reads all back. Fails on an error, a duplicate or a message out of order; prints what was acknowledged and lost.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	partitions   = 3
	limit        = 120 * time.Second
	pause        = time.Millisecond
	mostUnderWay = 1000
	// Long, so that every kill takes something.
	writeInterval = 200 * time.Millisecond
)

func check(holds bool, format string, values ...any) {
	if !holds {
		fmt.Fprintf(os.Stderr, format+"\n", values...)
		os.Exit(1)
	}
}

func client(options ...kgo.Opt) *kgo.Client {
	// A broker that is killed while the client connects looks to it like one that expects TLS, which it does not retry.
	always := []kgo.Opt{kgo.SeedBrokers(os.Getenv("JOURNALQ_BOOTSTRAP")), kgo.AlwaysRetryEOF()}
	made, err := kgo.NewClient(append(always, options...)...)
	check(err == nil, "client: %v", err)
	return made
}

// send returns the numbers of the acknowledged messages, by partition.
func send(ctx context.Context, topic string) []map[int]bool {
	var lock sync.Mutex
	acknowledged := make([]map[int]bool, partitions)
	for i := range acknowledged {
		acknowledged[i] = map[int]bool{}
	}
	var told atomic.Int64
	producer := client(
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.MaxBufferedRecords(mostUnderWay),
		kgo.ProducerLinger(0),
		kgo.ProducerOnDataLossDetected(func(topic string, partition int32) {
			told.Add(1)
		}),
	)
	defer producer.Close()
	for number := 0; ; number++ {
		if _, err := os.Stat(os.Getenv("LOSSES_STOP")); err == nil {
			break
		}
		for partition := range partitions {
			record := &kgo.Record{Topic: topic, Partition: int32(partition), Value: []byte(strconv.Itoa(number))}
			producer.Produce(ctx, record, func(sent *kgo.Record, err error) {
				check(err == nil, "%s cannot be sent: %v", sent.Value, err)
				lock.Lock()
				acknowledged[partition][number] = true
				lock.Unlock()
			})
		}
		time.Sleep(pause)
	}
	check(producer.Flush(ctx) == nil, "messages are left")
	check(told.Load() == 0, "the producer was reset %d times", told.Load())
	return acknowledged
}

func read(ctx context.Context, topic string) [][]int {
	reader := client(kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	defer reader.Close()
	ends, err := kadm.NewClient(reader).ListEndOffsets(ctx, topic)
	check(err == nil, "ends: %v", err)
	numbers := make([][]int, partitions)
	left := partitions
	for left > 0 {
		fetches := reader.PollFetches(ctx)
		check(fetches.Err() == nil, "fetch: %v", fetches.Err())
		fetches.EachRecord(func(record *kgo.Record) {
			number, err := strconv.Atoi(string(record.Value))
			check(err == nil, "%s is no number", record.Value)
			numbers[record.Partition] = append(numbers[record.Partition], number)
			if end, _ := ends.Lookup(topic, record.Partition); record.Offset == end.Offset-1 {
				left--
			}
		})
	}
	return numbers
}

func main() {
	sending := context.Background()
	topic := fmt.Sprintf("losses-franz-go-%d", time.Now().UnixNano())
	admin := client()
	mode, interval := "performance", strconv.FormatInt(writeInterval.Milliseconds(), 10)
	_, err := kadm.NewClient(admin).CreateTopic(sending, partitions, 1,
		map[string]*string{"delivery.mode": &mode, "write.interval.ms": &interval}, topic)
	check(err == nil, "create: %v", err)
	admin.Close()
	err = os.WriteFile(os.Getenv("LOSSES_READY"), nil, 0o600)
	check(err == nil, "ready: %v", err)
	acknowledged := send(sending, topic)
	time.Sleep(2 * writeInterval)
	reading, cancel := context.WithTimeout(sending, limit)
	defer cancel()
	total, lost := 0, 0
	for partition, numbers := range read(reading, topic) {
		found := map[int]bool{}
		for i, number := range numbers {
			check(!found[number], "partition %d holds %d twice", partition, number)
			check(i == 0 || number > numbers[i-1], "partition %d holds %d behind %d", partition, number, numbers[max(i, 1)-1])
			found[number] = true
		}
		for number := range acknowledged[partition] {
			total++
			if !found[number] {
				lost++
			}
		}
	}
	check(lost > 0, "nothing was lost: this shows nothing")
	fmt.Printf("franz-go: %d messages acknowledged, %d of them lost with the broker, none twice or out of order\n", total, lost)
}
