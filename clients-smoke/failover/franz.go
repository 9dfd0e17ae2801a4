// A producer of franz-go for `journalq-chaos failover --client`: sends until its input ends.
//
// Arguments: bootstrap servers, topic, partitions, messages per second, time-out of a request in ms. Prints the number
// of a partition when a message is acknowledged, at least every 5 ms.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	tick       = 10 * time.Millisecond
	printEvery = 5 * time.Millisecond
	// The client accepts no less. It sends up to five requests to a frozen broker, one after the other, and opens two
	// connections for each. It waits for this time on each of them.
	overhead = 100 * time.Millisecond
	// Longer than brokers need to elect another leader of a frozen one, which are 3 s, and than it takes until the client
	// knows it. A shorter time-out begins the requests above earlier, and the client goes on when all of them have failed.
	produceTimeout = 3500 * time.Millisecond
	mostInFlight   = 90_000
)

func number(at int) int {
	value, err := strconv.Atoi(os.Args[at])
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	topic, partitions, perSecond := os.Args[2], number(3), number(4)
	timeout := time.Duration(number(5)) * time.Millisecond
	client, err := kgo.NewClient(
		kgo.SeedBrokers(strings.Split(os.Args[1], ",")...),
		kgo.DefaultProduceTopic(topic),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProduceRequestTimeout(produceTimeout-overhead),
		kgo.RequestTimeoutOverhead(overhead),
		kgo.DialTimeout(timeout),
		// By default, a client asks for new leaders at most every 5 s after failures, and every 5 min without one.
		kgo.MetadataMinAge(100*time.Millisecond),
		kgo.MetadataMaxAge(500*time.Millisecond),
		// By default, it waits up to 5 s before it tries again.
		kgo.RetryBackoffFn(func(int) time.Duration { return 100 * time.Millisecond }),
		kgo.ProducerLinger(5*time.Millisecond),
		kgo.MaxBufferedRecords(mostInFlight),
		// A broker that is killed while the client connects looks to it like one that expects TLS, which it does not retry.
		kgo.AlwaysRetryEOF(),
	)
	if err != nil {
		panic(err)
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	printed := make([]time.Time, partitions)
	acknowledged := func(record *kgo.Record, err error) {
		// franz-go calls this for one record after the other.
		if now := time.Now(); err == nil && now.Sub(printed[record.Partition]) >= printEvery {
			printed[record.Partition] = now
			fmt.Println(record.Partition)
		}
	}
	value := make([]byte, 100)
	began := time.Now()
	for sent := 0; ; {
		due := int(time.Since(began).Seconds() * float64(perSecond))
		for ; sent < due; sent++ {
			client.TryProduce(context.Background(), &kgo.Record{Partition: int32(sent % partitions), Value: value}, acknowledged)
		}
		time.Sleep(tick)
	}
}
