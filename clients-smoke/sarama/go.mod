module journalq.io/smoke/sarama

go 1.25

require github.com/IBM/sarama v1.61.1
