// Topic administration, produce, consume and a consumer group with segmentio/kafka-go against $JOURNALQ_BOOTSTRAP.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/segmentio/kafka-go"
)

const (
	partitions = 4
	perCodec   = 500
	more       = 200
	limit      = 120 * time.Second
)

var codecs = []kafka.Compression{0, kafka.Gzip, kafka.Snappy, kafka.Lz4, kafka.Zstd}

func check(holds bool, format string, values ...any) {
	if !holds {
		fmt.Fprintf(os.Stderr, format+"\n", values...)
		os.Exit(1)
	}
}

func must(err error, what string) {
	check(err == nil, "%s: %v", what, err)
}

func bootstrap() string {
	return os.Getenv("JOURNALQ_BOOTSTRAP")
}

func produce(ctx context.Context, topic, prefix string, codec kafka.Compression, count int) {
	writer := &kafka.Writer{
		Addr:         kafka.TCP(bootstrap()),
		Topic:        topic,
		Balancer:     kafka.Murmur2Balancer{},
		Compression:  codec,
		RequiredAcks: kafka.RequireAll,
		BatchTimeout: 5 * time.Millisecond,
	}
	messages := make([]kafka.Message, count)
	for number := range messages {
		key := fmt.Sprintf("%s-%d", prefix, number)
		messages[number] = kafka.Message{
			Key:     []byte(key),
			Value:   []byte("value of " + key),
			Headers: []kafka.Header{{Key: "header", Value: []byte(key)}},
		}
	}
	must(writer.WriteMessages(ctx, messages...), "produce")
	must(writer.Close(), "close of the writer")
}

func consume(ctx context.Context, client *kafka.Client, topic string, expected int) {
	requests := make([]kafka.OffsetRequest, 0, 2*partitions)
	for partition := range partitions {
		requests = append(requests, kafka.FirstOffsetOf(partition), kafka.LastOffsetOf(partition))
	}
	ends, err := client.ListOffsets(ctx, &kafka.ListOffsetsRequest{
		Topics: map[string][]kafka.OffsetRequest{topic: requests},
	})
	must(err, "list offsets")
	seen := map[string]bool{}
	for _, one := range ends.Topics[topic] {
		must(one.Error, "list offsets")
		reader := kafka.NewReader(kafka.ReaderConfig{
			Brokers: []string{bootstrap()}, Topic: topic, Partition: one.Partition, MaxWait: 100 * time.Millisecond,
		})
		for offset := one.FirstOffset; offset < one.LastOffset; offset++ {
			message, err := reader.ReadMessage(ctx)
			must(err, "read")
			key := string(message.Key)
			check(message.Offset == offset, "offset %d came where %d was expected", message.Offset, offset)
			check(string(message.Value) == "value of "+key, "another value came back: %s", message.Value)
			check(string(message.Headers[0].Value) == key, "another header came back: %s", message.Headers[0].Value)
			seen[key] = true
		}
		must(reader.Close(), "close of the reader")
	}
	check(len(seen) == expected, "%d produced, %d read", expected, len(seen))
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	topic := fmt.Sprintf("kafka-go-%d", time.Now().UnixMilli())
	client := &kafka.Client{Addr: kafka.TCP(bootstrap())}
	created, err := client.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{
		Topic: topic, NumPartitions: partitions, ReplicationFactor: 1,
		ConfigEntries: []kafka.ConfigEntry{{ConfigName: "retention.ms", ConfigValue: "123456789"}},
	}}})
	must(err, "create")
	must(created.Errors[topic], "create")
	described, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})
	must(err, "metadata")
	check(len(described.Topics[0].Partitions) == partitions, "metadata: %v", described.Topics)

	count := perCodec * len(codecs)
	for _, codec := range codecs {
		produce(ctx, topic, fmt.Sprint(codec), codec, perCodec)
	}
	consume(ctx, client, topic, count)
	group := consumeAsAGroup(ctx, client, topic, count)
	transact(ctx, client, topic)

	removed, err := client.DeleteGroups(ctx, &kafka.DeleteGroupsRequest{GroupIDs: []string{group}})
	must(err, "delete group")
	must(removed.Errors[group], "delete group")
	deleted, err := client.DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: []string{topic}})
	must(err, "delete")
	must(deleted.Errors[topic], "delete")
	fmt.Printf("kafka-go: %d messages in %d codecs, read back alone and as a group; offsets committed in transactions\n",
		count, len(codecs))
}
