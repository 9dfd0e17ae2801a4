package main

import (
	"context"
	"sync"
	"time"

	"github.com/IBM/sarama"
)

// seen is what came to a group, whichever member read it.
type seen struct {
	lock sync.Mutex
	keys map[string]bool
}

func (all *seen) add(key string) {
	all.lock.Lock()
	defer all.lock.Unlock()
	check(!all.keys[key], "%s came to the group twice", key)
	all.keys[key] = true
}

func (all *seen) count() int {
	all.lock.Lock()
	defer all.lock.Unlock()
	return len(all.keys)
}

// member reads and commits in the background until it is stopped.
type member struct {
	group sarama.ConsumerGroup
	all   *seen
	stop  context.CancelFunc
	ended sync.WaitGroup
	lock  sync.Mutex
	owns  int
}

func join(topic, group string, all *seen) *member {
	settings := config()
	settings.Consumer.Offsets.AutoCommit.Enable = false
	settings.Consumer.Group.Session.Timeout = 10 * time.Second
	settings.Consumer.Group.Heartbeat.Interval = 500 * time.Millisecond
	settings.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategyRange()}
	made, err := sarama.NewConsumerGroup(brokers(), group, settings)
	must(err, "member")
	ctx, stop := context.WithCancel(context.Background())
	one := &member{group: made, all: all, stop: stop}
	one.ended.Go(func() {
		for ctx.Err() == nil {
			must(made.Consume(ctx, []string{topic}, one), "consume as a group")
		}
	})
	return one
}

func (one *member) owned() int {
	one.lock.Lock()
	defer one.lock.Unlock()
	return one.owns
}

func (one *member) own(count int) error {
	one.lock.Lock()
	defer one.lock.Unlock()
	one.owns = count
	return nil
}

func (one *member) leave() {
	one.stop()
	one.ended.Wait()
	must(one.group.Close(), "leave")
}

// Setup is called by sarama with each new assignment.
func (one *member) Setup(session sarama.ConsumerGroupSession) error {
	count := 0
	for _, owned := range session.Claims() {
		count += len(owned)
	}
	return one.own(count)
}

// Cleanup commits what was read before the partitions go to others.
func (one *member) Cleanup(session sarama.ConsumerGroupSession) error {
	session.Commit()
	return one.own(0)
}

// ConsumeClaim reads one partition until it is taken away.
func (one *member) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for message := range claim.Messages() {
		one.all.add(string(message.Key))
		session.MarkMessage(message, "")
	}
	return nil
}

// consumeAsAGroup has two members share the partitions; one goes and comes again, and nothing comes twice.
func consumeAsAGroup(topic string, acknowledged map[string]bool) string {
	group := "group-of-" + topic
	all := &seen{keys: map[string]bool{}}
	share := func(members ...*member) {
		until(func() bool {
			for _, one := range members {
				if one.owned() != partitions/len(members) {
					return false
				}
			}
			return true
		}, "the members of the group do not share its partitions")
	}
	first := join(topic, group, all)
	until(func() bool { return all.count() == len(acknowledged) }, "not everything came to the group")
	second := join(topic, group, all)
	share(first, second)
	second.leave()
	share(first)
	again := join(topic, group, all)
	share(first, again)
	first.leave()
	share(again)
	again.leave()
	check(all.count() == len(acknowledged), "%d messages came to the group", all.count())
	return group
}
