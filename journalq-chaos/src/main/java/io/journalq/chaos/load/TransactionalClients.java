package io.journalq.chaos.load;

import io.journalq.client.Consumer;
import io.journalq.client.ConsumerRecord;
import io.journalq.client.Producer;
import io.journalq.client.error.ProducerReplacedException;
import io.journalq.client.error.TransactionAbortedException;
import io.journalq.client.error.TransactionUnknownException;
import io.journalq.client.record.ProducerRecord;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.CompressionCodec;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Clients that write transactions over all partitions of several topics, and the reader that checks them. */
public final class TransactionalClients {
    private static final int ABORT_EVERY = 5;
    private static final Duration TRANSACTION_TIMEOUT = Duration.ofMinutes(10);
    private static final int TRANSACTION_TIMEOUT_MS = (int) TRANSACTION_TIMEOUT.toMillis();
    private static final Duration POLL = Duration.ofMillis(200);

    private final TransactionLedger ledger;
    private final List<TopicPartition> partitions;
    private boolean withKafka;

    /** Thrown in a transaction to abort it. */
    private static final class IntendedAbort extends Exception {
        private static final long serialVersionUID = 1L;
    }

    /** @param partitions the messages of a transaction rotate through these */
    public TransactionalClients(TransactionLedger ledger, List<TopicPartition> partitions) {
        this.ledger = ledger;
        this.partitions = List.copyOf(partitions);
    }

    private TopicPartition partitionOf(int number) {
        return partitions.get(number % partitions.size());
    }

    /** Whether a transaction is aborted on purpose. */
    private static boolean isAborted(int transaction) {
        return transaction % ABORT_EVERY == ABORT_EVERY - 1;
    }

    /** Starts a transactional producer of the JournalQ client. */
    public void writeWithJournalQ(ClientThreads load, int id, CompressionCodec codec) {
        load.begin("journalq transactions " + id, () -> {
            int transaction = 0;
            while (!load.isStopping()) {
                try (Producer producer = Producer.builder()
                        .bootstrapServers(load.servers())
                        .transactionalId("chaos-" + id)
                        .transactionTimeout(TRANSACTION_TIMEOUT)
                        .compression(codec)
                        .requestTimeout(load.requestTimeout())
                        .deliveryTimeout(LoadClients.DELIVERY_TIMEOUT)
                        .callTimeout(LoadClients.DELIVERY_TIMEOUT)
                        .build()) {
                    while (!load.isStopping()) {
                        writeOne(producer, id, transaction++);
                        load.pause();
                    }
                } catch (ProducerReplacedException tookTooLong) {
                    // The broker ended the transaction, or its response came too late. The reading checks the outcome.
                    load.pause();
                }
            }
        });
    }

    private void writeOne(Producer producer, int id, int transaction) {
        try {
            producer.inTransaction(open -> {
                for (int i = 0; i < TransactionLedger.SIZE; i++) {
                    int number = transaction * TransactionLedger.SIZE + i;
                    TopicPartition to = partitionOf(number);
                    var unused = open.sendAsync(
                            ProducerRecord.of(to.topic(), to.partition(), null, new Payload(id, number).encode()));
                }
                if (isAborted(transaction)) {
                    throw new IntendedAbort();
                }
            });
            ledger.onCommitted(id, transaction);
        } catch (IntendedAbort | TransactionAbortedException notThere) {
            ledger.onAborted(id, transaction);
        } catch (TransactionUnknownException undecided) {
            // The transaction is complete or absent. The reading checks that.
            return;
        }
    }

    /**
     * Starts a transactional producer of the Kafka client. When it cannot end a transaction, it is replaced by a new
     * one, as the documentation of the client requires.
     */
    public void writeWithKafka(ClientThreads load, int id, CompressionCodec codec) {
        Map<String, Object> config = new HashMap<>();
        config.put("transactional.id", "chaos-" + id);
        config.put("transaction.timeout.ms", TRANSACTION_TIMEOUT_MS);
        config.put("compression.type", codec.name().toLowerCase(Locale.ROOT));
        config.put("request.timeout.ms", (int) load.requestTimeout().toMillis());
        config.put("delivery.timeout.ms", LoadClients.DELIVERY_TIMEOUT_MS);
        config.put("max.block.ms", LoadClients.DELIVERY_TIMEOUT_MS);
        load.begin("kafka transactions " + id, () -> {
            int transaction = 0;
            boolean isOpen = true;
            while (isOpen) {
                config.putAll(LoadClients.kafkaSettings(load));
                try (KafkaProducer<byte[], byte[]> producer =
                        new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
                    producer.initTransactions();
                    isOpen = false;
                    while (!load.isStopping()) {
                        isOpen = true;
                        writeOne(producer, id, transaction++);
                        isOpen = false;
                        load.pause();
                    }
                } catch (KafkaException undecided) {
                    // A new producer replaces this one and ends the open transaction. The reading checks the outcome.
                    load.pause();
                }
            }
        });
    }

    private void writeOne(KafkaProducer<byte[], byte[]> producer, int id, int transaction) {
        producer.beginTransaction();
        for (int i = 0; i < TransactionLedger.SIZE; i++) {
            int number = transaction * TransactionLedger.SIZE + i;
            TopicPartition to = partitionOf(number);
            var unused = producer.send(new org.apache.kafka.clients.producer.ProducerRecord<>(
                    to.topic(), to.partition(), null, new Payload(id, number).encode()));
        }
        if (isAborted(transaction)) {
            producer.abortTransaction();
            ledger.onAborted(id, transaction);
        } else {
            commit(producer);
            ledger.onCommitted(id, transaction);
        }
    }

    private static void commit(KafkaProducer<byte[], byte[]> producer) {
        try {
            producer.commitTransaction();
        } catch (TimeoutException again) {
            producer.commitTransaction();
        }
    }

    /**
     * Reads all committed records up to the current end of all partitions, and waits for transactions that are open
     * before it. Uses the clients of JournalQ and Kafka in turn.
     *
     * @param settled whether no producer is writing any more
     */
    public void readCommitted(String servers, boolean settled) {
        ledger.beginReading();
        try (Consumer ends = Consumer.builder()
                .bootstrapServers(servers)
                .callTimeout(LoadClients.DELIVERY_TIMEOUT)
                .build()) {
            if (withKafka) {
                readWithKafka(servers, ends.endOffsets(partitions));
            } else {
                readWithJournalQ(servers, ends.endOffsets(partitions));
            }
        }
        withKafka = !withKafka;
        ledger.endReading(settled);
    }

    private void readWithKafka(String servers, Map<TopicPartition, Long> ends) {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", servers);
        config.put("isolation.level", "read_committed");
        config.put("default.api.timeout.ms", LoadClients.DELIVERY_TIMEOUT_MS);
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            Map<org.apache.kafka.common.TopicPartition, Long> wanted = new HashMap<>();
            ends.forEach((partition, end) -> wanted.put(
                    new org.apache.kafka.common.TopicPartition(partition.topic(), partition.partition()), end));
            consumer.assign(wanted.keySet());
            consumer.seekToBeginning(wanted.keySet());
            while (wanted.entrySet().stream().anyMatch(each -> consumer.position(each.getKey()) < each.getValue())) {
                consumer.poll(POLL)
                        .forEach(record -> ledger.onFound(
                                record.topic() + "-" + record.partition(), record.offset(), record.value()));
            }
        }
    }

    private void readWithJournalQ(String servers, Map<TopicPartition, Long> ends) {
        try (Consumer consumer = Consumer.builder()
                .bootstrapServers(servers)
                .isolation(Consumer.Isolation.READ_COMMITTED)
                .callTimeout(LoadClients.DELIVERY_TIMEOUT)
                .build()) {
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            while (partitions.stream().anyMatch(partition -> consumer.position(partition) < ends.get(partition))) {
                for (ConsumerRecord record : consumer.poll(POLL)) {
                    ledger.onFound(record.topic() + "-" + record.partition(), record.offset(), record.value());
                }
            }
        }
    }
}
