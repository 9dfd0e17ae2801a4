package io.journalq.client;

import io.journalq.client.produce.Gate;
import io.journalq.client.produce.ProducerConfig;
import io.journalq.client.produce.Sender;
import io.journalq.client.transaction.TransactionBody;
import io.journalq.client.transaction.TransactionConfig;
import io.journalq.client.transaction.Transactor;
import io.journalq.common.record.CompressionCodec;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/**
 * Sends records. Thread-safe: many threads share one producer, and so its connections; that is also the fastest way.
 *
 * <pre>{@code
 * try (Producer producer = Producer.builder().bootstrapServers("localhost:9092").build()) {
 *     RecordMetadata where = producer.send(ProducerRecord.of("orders", "hello".getBytes(UTF_8)));
 *     System.out.println("partition " + where.partition() + " offset " + where.offset());
 * }
 * }</pre>
 *
 * <p>Idempotent by default: what is acknowledged is in the journal once, and in the order of the sends to its partition,
 * whatever was retried (KIP-98).
 *
 * <p>With a {@link Builder#transactionalId} records are sent in transactions, and nowhere else:
 *
 * <pre>{@code
 * producer.inTransaction(transaction -> {
 *     transaction.send(ProducerRecord.of("invoices", invoice));
 *     transaction.commitOffsets(consumer.groupMember(), offsets);
 * });
 * }</pre>
 */
public final class Producer implements AutoCloseable {
    private final Sender sender;
    private final Transactor transactor;

    private Producer(ProducerConfig config, TransactionConfig transactions) {
        this.transactor = transactions == null ? null : new Transactor(config, transactions);
        this.sender = transactions == null ? new Sender(config, Gate.OPEN) : transactor.sender();
    }

    /** Starts a producer with the defaults. */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Sends one record and waits until it is acknowledged.
     *
     * @throws JournalQException when it was not, within the delivery time-out
     */
    public RecordMetadata send(ProducerRecord record) {
        requireNoTransactions();
        return sender.send(record);
    }

    /**
     * Puts one record into its partition's next batch and returns. Blocks only while the buffer memory is full, or the
     * topic is not known yet. The future completes on a thread of the client: keep what hangs on it short.
     */
    public CompletableFuture<RecordMetadata> sendAsync(ProducerRecord record) {
        requireNoTransactions();
        return sender.sendAsync(record);
    }

    /**
     * Ships records as one batch of their own: encoded and compressed by the calling thread, then handed over. Blocks as
     * {@link #sendAsync} does. Partitions named in the records are ignored.
     *
     * @param partition zero-based, or {@link ProducerRecord#ANY_PARTITION} to spread batches over the partitions
     * @param records at least one, all of {@code topic}
     */
    public CompletableFuture<BatchMetadata> sendBatch(String topic, int partition, List<ProducerRecord> records) {
        requireNoTransactions();
        return sender.sendBatch(topic, partition, records);
    }

    /**
     * Runs a transaction: begins it, lets {@code body} send and commit offsets, and commits when it returns; when it
     * throws, the transaction is aborted and the exception comes out of this call. One transaction is open at a time,
     * others wait.
     *
     * <p>The first call takes the place of any other producer with the same {@link Builder#transactionalId}, aborting what
     * it left open.
     *
     * @throws io.journalq.client.error.TransactionAbortedException when something that was sent failed; run it again
     * @throws io.journalq.client.error.ProducerReplacedException when another producer took this one's place
     * @throws io.journalq.client.error.TransactionUnknownException when nobody can tell in time whether it is committed
     * @throws IllegalStateException without a transactional id, or inside another transaction
     */
    public <E extends Exception> void inTransaction(TransactionBody<E> body) throws E {
        if (transactor == null) {
            throw new IllegalStateException("transactions need a fixed name; build the producer with transactionalId");
        }
        transactor.run(body);
    }

    /** Sends what waits for company, and returns when everything sent before this call is acknowledged or failed. */
    public void flush() {
        sender.flush();
    }

    /** Number of partitions of a topic, asking the broker if need be. */
    public int partitionCount(String topic) {
        return sender.partitionCount(topic);
    }

    /** What the producer did so far. */
    public ProducerMetrics metrics() {
        return sender.metrics();
    }

    /** Flushes, then closes the connections. Calls after it, and sends that it overtakes, fail. */
    @Override
    public void close() {
        if (transactor == null) {
            sender.close();
        } else {
            transactor.close();
        }
    }

    private void requireNoTransactions() {
        if (transactor != null) {
            throw new IllegalStateException("this producer has a transactionalId; send inside inTransaction");
        }
    }

    /** Settings of a producer. Not thread-safe. */
    public static final class Builder extends ClientBuilder<Builder> {
        private static final int DEFAULT_BATCH_SIZE_BYTES = 64 * 1024;
        private static final long DEFAULT_BUFFER_MEMORY_BYTES = 64L * 1024 * 1024;
        private static final int DEFAULT_MAX_REQUEST_SIZE_BYTES = 1024 * 1024;
        private static final int DEFAULT_DELIVERY_TIMEOUT_MS = 120_000;
        private static final int DEFAULT_TRANSACTION_TIMEOUT_MS = 60_000;

        private CompressionCodec compression = CompressionCodec.NONE;
        private Acks acks;
        private boolean idempotent = true;
        private boolean idempotentChosen;
        private Partitioning partitioning = Partitioning.STICKY;
        private int batchSizeBytes = DEFAULT_BATCH_SIZE_BYTES;
        private int lingerMs;
        private long bufferMemoryBytes = DEFAULT_BUFFER_MEMORY_BYTES;
        private int maxRequestSizeBytes = DEFAULT_MAX_REQUEST_SIZE_BYTES;
        private int deliveryTimeoutMs = DEFAULT_DELIVERY_TIMEOUT_MS;
        private String transactionalId;
        private int transactionTimeoutMs = DEFAULT_TRANSACTION_TIMEOUT_MS;

        private Builder() {}

        @Override
        Builder self() {
            return this;
        }

        /** How batches are compressed, those at least that shrink by it. Default none. */
        public Builder compression(CompressionCodec codec) {
            this.compression = Objects.requireNonNull(codec, "compression is never null; use NONE");
            return this;
        }

        /**
         * Who must have a record before it is acknowledged. Default {@link Acks#LEADER}, and {@link Acks#ALL} with
         * transactions, which allow nothing else.
         */
        public Builder acks(Acks acks) {
            this.acks = Objects.requireNonNull(acks, "acks is never null");
            return this;
        }

        /**
         * Whether retries can neither repeat nor reorder records. Default true, and false with {@link Acks#NONE}, where
         * there is nothing to retry.
         */
        public Builder idempotent(boolean idempotent) {
            this.idempotent = idempotent;
            this.idempotentChosen = true;
            return this;
        }

        /** Where records without key and partition go. Default {@link Partitioning#STICKY}. */
        public Builder partitioning(Partitioning partitioning) {
            this.partitioning = Objects.requireNonNull(partitioning, "partitioning is never null");
            return this;
        }

        /** Size before compression at which a batch goes without waiting for more. Default 65,536 bytes. */
        public Builder batchSizeBytes(int sizeBytes) {
            this.batchSizeBytes = positive("batchSizeBytes", sizeBytes);
            return this;
        }

        /**
         * How long a record sent by {@code sendAsync} may wait for company, in milliseconds. Default 0: a batch goes as
         * soon as the client can take it up, and while earlier ones are on their way the next fills.
         */
        public Builder lingerMs(int lingerMs) {
            this.lingerMs = notNegative("lingerMs", lingerMs);
            return this;
        }

        /** Most bytes of records that may wait for their acknowledgement; sends block beyond. Default 64 MiB. */
        public Builder bufferMemoryBytes(long sizeBytes) {
            if (sizeBytes <= 0) {
                throw new IllegalArgumentException("bufferMemoryBytes is " + sizeBytes + "; use 1 or more");
            }
            this.bufferMemoryBytes = sizeBytes;
            return this;
        }

        /** Largest record or batch before compression, and about the largest request. Default 1 MiB. */
        public Builder maxRequestSizeBytes(int sizeBytes) {
            this.maxRequestSizeBytes = positive("maxRequestSizeBytes", sizeBytes);
            return this;
        }

        /** How long a record may take from the send to its acknowledgement, retries included. Default 120,000 ms. */
        public Builder deliveryTimeoutMs(int timeoutMs) {
            this.deliveryTimeoutMs = positive("deliveryTimeoutMs", timeoutMs);
            return this;
        }

        /**
         * A fixed name of this producer: everything is then sent in transactions ({@link Producer#inTransaction}), and of
         * producers with the same name only the last that began works (KIP-98). Default none.
         */
        public Builder transactionalId(String id) {
            this.transactionalId = notEmpty("transactionalId", id);
            return this;
        }

        /** How long a transaction may be open before its coordinator aborts it. Default 60,000 ms. */
        public Builder transactionTimeoutMs(int timeoutMs) {
            this.transactionTimeoutMs = positive("transactionTimeoutMs", timeoutMs);
            return this;
        }

        /** Connects at the first send; this only starts the producer. */
        public Producer build() {
            boolean transactional = transactionalId != null;
            if (transactional && ((acks != null && acks != Acks.ALL) || !idempotent)) {
                throw new IllegalArgumentException(
                        "transactions need acks ALL and an idempotent producer; leave both settings out");
            }
            Acks chosen = acks != null ? acks : transactional ? Acks.ALL : Acks.LEADER;
            if (acks == Acks.NONE && idempotent && idempotentChosen) {
                throw new IllegalArgumentException(
                        "an idempotent producer needs acknowledgements; use acks LEADER or ALL, or idempotent(false)");
            }
            ProducerConfig config = new ProducerConfig(
                    clientConfig(),
                    compression,
                    chosen,
                    idempotent && chosen != Acks.NONE,
                    partitioning,
                    batchSizeBytes,
                    lingerMs,
                    bufferMemoryBytes,
                    maxRequestSizeBytes,
                    deliveryTimeoutMs,
                    transactionalId);
            return new Producer(
                    config, transactional ? new TransactionConfig(transactionalId, transactionTimeoutMs) : null);
        }
    }
}
