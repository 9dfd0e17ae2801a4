// Topic administration, produce, consume, a consumer group and transactions with sarama against $JOURNALQ_BOOTSTRAP.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/IBM/sarama"
)

const (
	partitions = 4
	perCodec   = 500
	limit      = 60 * time.Second
)

var codecs = []sarama.CompressionCodec{
	sarama.CompressionNone,
	sarama.CompressionGZIP,
	sarama.CompressionSnappy,
	sarama.CompressionLZ4,
	sarama.CompressionZSTD,
}

func check(holds bool, format string, values ...any) {
	if !holds {
		fmt.Fprintf(os.Stderr, format+"\n", values...)
		os.Exit(1)
	}
}

func must(err error, what string) {
	check(err == nil, "%s: %v", what, err)
}

func until(condition func() bool, what string) {
	for deadline := time.Now().Add(limit); !condition(); time.Sleep(20 * time.Millisecond) {
		check(time.Now().Before(deadline), "%s", what)
	}
}

func brokers() []string {
	return []string{os.Getenv("JOURNALQ_BOOTSTRAP")}
}

// config is what all parts of this program share.
func config() *sarama.Config {
	made := sarama.NewConfig()
	made.Version = sarama.MaxVersion
	made.Consumer.Offsets.Initial = sarama.OffsetOldest
	made.Consumer.Return.Errors = false
	made.Producer.Return.Successes = true
	made.Producer.RequiredAcks = sarama.WaitForAll
	return made
}

func produce(topic string) map[string]bool {
	acknowledged := map[string]bool{}
	offsets := map[string]bool{}
	for _, codec := range codecs {
		for _, idempotent := range []bool{false, true} {
			settings := config()
			settings.Producer.Compression = codec
			settings.Producer.Idempotent = idempotent
			if idempotent {
				settings.Net.MaxOpenRequests = 1
			}
			producer, err := sarama.NewSyncProducer(brokers(), settings)
			must(err, "producer")
			messages := make([]*sarama.ProducerMessage, perCodec)
			for number := range messages {
				key := fmt.Sprintf("%v-%v-%d", codec, idempotent, number)
				messages[number] = &sarama.ProducerMessage{
					Topic:   topic,
					Key:     sarama.StringEncoder(key),
					Value:   sarama.StringEncoder("value of " + key),
					Headers: []sarama.RecordHeader{{Key: []byte("header"), Value: []byte(key)}},
				}
				acknowledged[key] = true
			}
			must(producer.SendMessages(messages), "produce")
			for _, message := range messages {
				offsets[fmt.Sprintf("%d/%d", message.Partition, message.Offset)] = true
			}
			must(producer.Close(), "close of the producer")
		}
	}
	check(len(offsets) == len(acknowledged), "%d messages at %d offsets", len(acknowledged), len(offsets))
	return acknowledged
}

func consume(client sarama.Client, topic string, acknowledged map[string]bool) {
	consumer, err := sarama.NewConsumerFromClient(client)
	must(err, "consumer")
	seen := map[string]bool{}
	for partition := range int32(partitions) {
		end, err := client.GetOffset(topic, partition, sarama.OffsetNewest)
		must(err, "end offset")
		reading, err := consumer.ConsumePartition(topic, partition, sarama.OffsetOldest)
		must(err, "consume")
		for offset := int64(0); offset < end; offset++ {
			select {
			case message := <-reading.Messages():
				key := string(message.Key)
				check(message.Offset == offset, "offset %d came where %d was expected", message.Offset, offset)
				check(string(message.Value) == "value of "+key, "another value came back: %s", message.Value)
				check(string(message.Headers[0].Value) == key, "another header came back: %s", message.Headers[0].Value)
				seen[key] = true
			case <-time.After(limit):
				check(false, "partition %d: no message at offset %d of %d", partition, offset, end)
			}
		}
		must(reading.Close(), "close of a partition")
	}
	check(len(seen) == len(acknowledged), "%d acknowledged, %d read", len(acknowledged), len(seen))
}

func main() {
	topic := fmt.Sprintf("sarama-%d", time.Now().UnixMilli())
	copies := topic + "-copies"
	client, err := sarama.NewClient(brokers(), config())
	must(err, "client")
	admin, err := sarama.NewClusterAdminFromClient(client)
	must(err, "admin")
	retention := "123456789"
	for _, name := range []string{topic, copies} {
		must(admin.CreateTopic(name, &sarama.TopicDetail{
			NumPartitions:     partitions,
			ReplicationFactor: 1,
			ConfigEntries:     map[string]*string{"retention.ms": &retention},
		}, false), "create")
	}
	described, err := admin.DescribeTopics([]string{topic})
	must(err, "describe")
	check(len(described[0].Partitions) == partitions, "described: %v", described[0])
	entries, err := admin.DescribeConfig(sarama.ConfigResource{
		Type: sarama.TopicResource, Name: topic, ConfigNames: []string{"retention.ms"},
	})
	must(err, "describe settings")
	check(entries[0].Value == retention, "settings: %v", entries)

	acknowledged := produce(topic)
	consume(client, topic, acknowledged)
	group := consumeAsAGroup(topic, acknowledged)
	transact(client, topic, copies)

	offsets, err := admin.ListConsumerGroupOffsets(group, nil)
	must(err, "offsets of the group")
	committed := int64(0)
	for partition := range int32(partitions) {
		committed += offsets.GetBlock(topic, partition).Offset
	}
	check(committed == int64(len(acknowledged)), "%d committed of %d", committed, len(acknowledged))
	until(func() bool {
		groups, err := admin.DescribeConsumerGroups([]string{group})
		must(err, "describe group")
		return groups[0].State == "Empty"
	}, "the group does not become empty")
	must(admin.DeleteConsumerGroup(group), "delete group")
	for _, name := range []string{topic, copies} {
		must(admin.DeleteTopic(name), "delete")
	}
	must(admin.Close(), "close")
	fmt.Printf("sarama: %d messages in %d codecs, with and without idempotence, read back alone and as a group; "+
		"copied in transactions\n", len(acknowledged), len(codecs))
}
