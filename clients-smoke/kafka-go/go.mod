module journalq.io/smoke/kafka-go

go 1.25

require github.com/segmentio/kafka-go v0.4.51
