package main

import (
	"context"
	"time"

	"github.com/segmentio/kafka-go"
)

func member(topic, group string) *kafka.Reader {
	return kafka.NewReader(kafka.ReaderConfig{
		Brokers:           []string{bootstrap()},
		GroupID:           group,
		GroupTopics:       []string{topic},
		StartOffset:       kafka.FirstOffset,
		SessionTimeout:    10 * time.Second,
		HeartbeatInterval: 500 * time.Millisecond,
		MaxWait:           100 * time.Millisecond,
	})
}

// settle waits until a group has the given number of members, each with the same number of partitions.
func settle(ctx context.Context, client *kafka.Client, group string, members int) {
	for ; ; time.Sleep(50 * time.Millisecond) {
		described, err := client.DescribeGroups(ctx, &kafka.DescribeGroupsRequest{GroupIDs: []string{group}})
		must(err, "describe group")
		one := described.Groups[0]
		must(one.Error, "describe group")
		shares := one.GroupState == "Stable" && len(one.Members) == members
		for _, member := range one.Members {
			owned := 0
			for _, topic := range member.MemberAssignments.Topics {
				owned += len(topic.Partitions)
			}
			shares = shares && owned == partitions/members
		}
		if shares || (members == 0 && one.GroupState == "Empty") {
			return
		}
	}
}

type delivery struct {
	member  int
	message kafka.Message
}

// consumeAsAGroup has one member read and leave; the two that follow go on behind what it committed.
func consumeAsAGroup(ctx context.Context, client *kafka.Client, topic string, count int) string {
	group := "group-of-" + topic
	seen := map[string]bool{}
	first := member(topic, group)
	for len(seen) < count {
		message, err := first.FetchMessage(ctx)
		must(err, "read as a member")
		check(!seen[string(message.Key)], "%s came to the group twice", message.Key)
		seen[string(message.Key)] = true
		if len(seen)%perCodec == 0 {
			must(first.CommitMessages(ctx, message), "commit")
		}
		if message.Offset == message.HighWaterMark-1 {
			must(first.CommitMessages(ctx, message), "commit")
		}
	}
	must(first.Close(), "leave")
	settle(ctx, client, group, 0)

	readers := []*kafka.Reader{member(topic, group), member(topic, group)}
	came := make(chan delivery)
	for number, reader := range readers {
		go func() {
			for {
				message, err := reader.FetchMessage(ctx)
				if err != nil {
					return
				}
				came <- delivery{number, message}
			}
		}()
	}
	settle(ctx, client, group, 2)
	produce(ctx, topic, "more", kafka.Lz4, more)
	byMember := map[int]int{}
	for len(seen) < count+more {
		select {
		case one := <-came:
			check(!seen[string(one.message.Key)], "%s came to the group again", one.message.Key)
			seen[string(one.message.Key)] = true
			byMember[one.member]++
			must(readers[one.member].CommitMessages(ctx, one.message), "commit")
		case <-ctx.Done():
			check(false, "%d of %d messages came to the group", len(seen), count+more)
		}
	}
	check(byMember[0] > 0 && byMember[1] > 0, "messages by member: %v", byMember)
	for _, reader := range readers {
		must(reader.Close(), "leave")
	}
	settle(ctx, client, group, 0)
	check(committed(ctx, client, group, topic) == int64(count+more), "not everything is committed")
	return group
}

func committed(ctx context.Context, client *kafka.Client, group, topic string) int64 {
	offsets, err := client.ConsumerOffsets(ctx, kafka.TopicAndGroup{Topic: topic, GroupId: group})
	must(err, "committed offsets")
	sum := int64(0)
	for _, offset := range offsets {
		sum += offset
	}
	return sum
}
