package io.journalq.chaos;

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

/** Clients that write in transactions, over all partitions of some topics, and the reading that checks them. */
final class TransactionalClients {
    private static final int ABORT_EVERY = 5;
    private static final int REQUEST_TIMEOUT_MS = 5_000;
    private static final int TRANSACTION_TIMEOUT_MS = 600_000;
    private static final Duration POLL = Duration.ofMillis(200);

    private final TransactionLedger ledger;
    private final List<TopicPartition> partitions;
    private boolean withKafka;

    /** A body's wish to be aborted. */
    private static final class OnPurpose extends Exception {
        private static final long serialVersionUID = 1L;
    }

    /** Over {@code partitions}, in turn. */
    TransactionalClients(TransactionLedger ledger, List<TopicPartition> partitions) {
        this.ledger = ledger;
        this.partitions = List.copyOf(partitions);
    }

    private TopicPartition partitionOf(int number) {
        return partitions.get(number % partitions.size());
    }

    /** Every so many transactions are aborted on purpose. */
    private static boolean isAborted(int transaction) {
        return transaction % ABORT_EVERY == ABORT_EVERY - 1;
    }

    /** Transactions of JournalQ's client. */
    void writeWithJournalQ(ClientThreads load, int id, CompressionCodec codec) {
        load.begin("journalq transactions " + id, () -> {
            int transaction = 0;
            while (!load.isStopping()) {
                try (Producer producer = Producer.builder()
                        .bootstrapServers(load.servers())
                        .transactionalId("chaos-" + id)
                        .transactionTimeoutMs(TRANSACTION_TIMEOUT_MS)
                        .compression(codec)
                        .requestTimeoutMs(REQUEST_TIMEOUT_MS)
                        .deliveryTimeoutMs(LoadClients.DELIVERY_TIMEOUT_MS)
                        .callTimeoutMs(LoadClients.DELIVERY_TIMEOUT_MS)
                        .build()) {
                    while (!load.isStopping()) {
                        writeOne(producer, id, transaction++);
                        load.pause();
                    }
                } catch (ProducerReplacedException tookTooLong) {
                    // The broker ended its transaction, or did not tell in time that it had; the next one looks at how.
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
                    throw new OnPurpose();
                }
            });
            ledger.onCommitted(id, transaction);
        } catch (OnPurpose | TransactionAbortedException notThere) {
            ledger.onAborted(id, transaction);
        } catch (TransactionUnknownException undecided) {
            // All of it is there or nothing: the reading looks.
            return;
        }
    }

    /** Transactions of Kafka's client. Whoever cannot end one begins anew, as its documentation says. */
    void writeWithKafka(ClientThreads load, int id, CompressionCodec codec) {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", load.servers());
        config.put("transactional.id", "chaos-" + id);
        config.put("transaction.timeout.ms", TRANSACTION_TIMEOUT_MS);
        config.put("compression.type", codec.name().toLowerCase(Locale.ROOT));
        config.put("request.timeout.ms", REQUEST_TIMEOUT_MS);
        config.put("delivery.timeout.ms", LoadClients.DELIVERY_TIMEOUT_MS);
        config.put("max.block.ms", LoadClients.DELIVERY_TIMEOUT_MS);
        config.put("reconnect.backoff.max.ms", 200);
        load.begin("kafka transactions " + id, () -> {
            int transaction = 0;
            while (!load.isStopping()) {
                try (KafkaProducer<byte[], byte[]> producer =
                        new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
                    producer.initTransactions();
                    while (!load.isStopping()) {
                        writeOne(producer, id, transaction++);
                        load.pause();
                    }
                } catch (KafkaException undecided) {
                    // A new producer takes its place, which ends what is open; the reading looks at how.
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
     * Reads all committed records from the beginning to what is the end of all records now; it waits for transactions that
     * are open until then. With each client in turn.
     *
     * @param settled whether nobody is writing any more
     */
    void readCommitted(String servers, boolean settled) {
        ledger.beginReading();
        try (Consumer ends = Consumer.builder()
                .bootstrapServers(servers)
                .callTimeoutMs(LoadClients.DELIVERY_TIMEOUT_MS)
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
                .callTimeoutMs(LoadClients.DELIVERY_TIMEOUT_MS)
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
