package io.journalq.client;

import static io.journalq.client.internal.check.Arguments.millis;
import static io.journalq.client.internal.check.Arguments.notEmpty;
import static io.journalq.client.internal.check.Arguments.notNull;
import static io.journalq.client.internal.check.Arguments.positive;
import static io.journalq.client.internal.check.Arguments.positiveMillis;

import io.journalq.client.error.JournalQException;
import io.journalq.client.internal.network.FailureLog;
import io.journalq.client.internal.produce.Gate;
import io.journalq.client.internal.produce.ProducerConfig;
import io.journalq.client.internal.produce.Sender;
import io.journalq.client.internal.transaction.TransactionRunner;
import io.journalq.client.record.BatchMetadata;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.record.RecordMetadata;
import io.journalq.client.seal.BatchSealer;
import io.journalq.client.transaction.TransactionBody;
import io.journalq.common.record.CompressionCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Sends records to topics.
 *
 * <p>Thread-safe. Use one producer for all threads: they share its connections and batches, which gives the highest
 * throughput.
 *
 * <pre>{@code
 * try (Producer producer = Producer.builder().bootstrapServers("localhost:9092").build()) {
 *     RecordMetadata metadata = producer.send(ProducerRecord.of("orders", "hello".getBytes(UTF_8)));
 *     System.out.println("partition " + metadata.partition() + " offset " + metadata.offset());
 * }
 * }</pre>
 *
 * <p>After {@link #close()}, every method throws {@link io.journalq.client.error.ClientClosedException}. If an argument is
 * null, a method throws {@link NullPointerException}.
 *
 * <p>The producer is idempotent by default: retries neither duplicate nor reorder the records of a partition (KIP-98).
 *
 * <p>A producer with a {@link Builder#transactionalId} sends records only in transactions:
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
    private final TransactionRunner transactor;
    /** Null without interceptors. */
    private final InterceptedSends intercepted;

    private Producer(
            ProducerConfig config, TransactionRunner.Config transactions, List<ProducerInterceptor> interceptors) {
        this.intercepted = interceptors.isEmpty() ? null : new InterceptedSends(interceptors);
        this.transactor = transactions == null ? null : new TransactionRunner(config, transactions);
        this.sender = transactions == null ? new Sender(config, Gate.OPEN) : transactor.sender();
    }

    /** Returns a builder with the default settings. */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Sends one record and blocks until it is acknowledged.
     *
     * @return the partition and offset of the record
     * @throws JournalQException if the record was not acknowledged within {@link Builder#deliveryTimeout}
     */
    public RecordMetadata send(ProducerRecord record) {
        requireNoTransactions();
        notNull(record, "record");
        return intercepted == null ? sender.send(record) : intercepted.send(record, sender::send);
    }

    /**
     * Adds one record to the next batch of its partition and returns. Blocks only while the buffer memory is full, the
     * metadata of the topic is not known, or do not contain the partition, which may have been added a moment ago.
     *
     * @return completes when the record is acknowledged or has failed. It completes on a thread of the client, so
     *     dependent stages must not block
     */
    public CompletableFuture<RecordMetadata> sendAsync(ProducerRecord record) {
        requireNoTransactions();
        notNull(record, "record");
        return intercepted == null ? sender.sendAsync(record) : intercepted.sendAsync(record, sender::sendAsync);
    }

    /**
     * Sends records as one batch. The calling thread encodes and compresses the batch. Blocks in the same cases as
     * {@link #sendAsync}. The partitions set in the records are ignored.
     *
     * @param partition counted from 0, or {@link ProducerRecord#ANY_PARTITION} to distribute batches over the
     *     partitions
     * @param records at least one, all of {@code topic}
     * @return completes when the batch is acknowledged or has failed, on a thread of the client
     */
    public CompletableFuture<BatchMetadata> sendBatch(String topic, int partition, List<ProducerRecord> records) {
        requireNoTransactions();
        notNull(topic, "topic");
        notNull(records, "records");
        return intercepted == null
                ? sender.sendBatch(topic, partition, records)
                : intercepted.sendBatch(records, changed -> sender.sendBatch(topic, partition, changed));
    }

    /**
     * Runs {@code body} in a transaction. If the body returns, the transaction is committed. If it throws, the
     * transaction is aborted and the exception is rethrown. Only one transaction is open at a time: other callers
     * block.
     *
     * <p>The first call fences any other producer with the same {@link Builder#transactionalId} and aborts its open
     * transaction.
     *
     * @throws io.journalq.client.error.TransactionAbortedException if a record or commit of the body failed; run it
     *     again
     * @throws io.journalq.client.error.ProducerReplacedException if another producer has fenced this one
     * @throws io.journalq.client.error.TransactionUnknownException if it could not be determined in time whether the
     *     transaction is committed
     * @throws IllegalStateException if the producer has no transactional id, or if called inside another transaction
     */
    public <E extends Exception> void inTransaction(TransactionBody<E> body) throws E {
        sender.requireOpen();
        if (transactor == null) {
            throw new IllegalStateException(
                    "transactions require a transactional id; build the producer with transactionalId");
        }
        notNull(body, "body");
        transactor.run(
                intercepted == null
                        ? body
                        : transaction -> body.run(new InterceptedTransaction(transaction, intercepted)));
    }

    /**
     * Sends all batches without waiting for more records. Returns when all records sent before this call are
     * acknowledged or have failed, and their futures are complete. Do not hold a lock that a dependent stage of such a
     * future needs. Called in such a stage, it does not wait for futures.
     */
    public void flush() {
        sender.requireOpen();
        sender.flush();
    }

    /** Returns the number of partitions of a topic. Asks the broker if the topic is not known. */
    public int partitionCount(String topic) {
        sender.requireOpen();
        return sender.partitionCount(notNull(topic, "topic"));
    }

    /** Returns a snapshot of the counters. */
    public ProducerMetrics metrics() {
        sender.requireOpen();
        Sender.Counters counters = sender.counters();
        FailureLog failures = sender.cluster().failureLog();
        return new ProducerMetrics(
                counters.records.sum(),
                counters.batches.sum(),
                counters.requests.sum(),
                counters.sentBytes.sum(),
                counters.failedRecords.sum(),
                counters.retriedBatches.sum(),
                counters.directSends.sum(),
                sender.bufferedBytes(),
                failures.total(FailureLog.Cause.NO_BROKER),
                failures.total(FailureLog.Cause.UNKNOWN_TOPIC),
                failures.total(FailureLog.Cause.LOST_COORDINATOR),
                failures.total(FailureLog.Cause.NOT_AUTHORIZED),
                failures.lastFailure());
    }

    /**
     * Sends what is buffered, waits for the acknowledgements, and closes the connections. Later calls, and sends that
     * race with this call, throw {@link io.journalq.client.error.ClientClosedException}. A second call of this method has
     * no effect.
     */
    @Override
    public void close() {
        if (transactor == null) {
            sender.close();
        } else {
            transactor.close();
        }
    }

    private void requireNoTransactions() {
        sender.requireOpen();
        if (transactor != null) {
            throw new IllegalStateException("this producer has a transactionalId; send records inside inTransaction");
        }
    }

    /** The settings of a producer. Not thread-safe. */
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
        private Duration linger = Duration.ZERO;
        private long bufferMemoryBytes = DEFAULT_BUFFER_MEMORY_BYTES;
        private int maxRequestSizeBytes = DEFAULT_MAX_REQUEST_SIZE_BYTES;
        private int deliveryTimeoutMs = DEFAULT_DELIVERY_TIMEOUT_MS;
        private String transactionalId;
        private int transactionTimeoutMs = DEFAULT_TRANSACTION_TIMEOUT_MS;
        private BatchSealer.Factory seal;
        private final List<ProducerInterceptor> interceptors = new ArrayList<>();

        private Builder() {}

        @Override
        Builder self() {
            return this;
        }

        /**
         * The codec for batches. A batch that compression does not make smaller is sent uncompressed. Default {@code
         * NONE}.
         */
        public Builder compression(CompressionCodec codec) {
            this.compression = notNull(codec, "compression");
            return this;
        }

        /**
         * How many replicas must have a record before it is acknowledged. Default {@link Acks#LEADER}. Transactions
         * require {@link Acks#ALL}, which is then the default.
         */
        public Builder acks(Acks acks) {
            this.acks = notNull(acks, "acks");
            return this;
        }

        /**
         * Whether the producer prevents retries from duplicating or reordering records. Default true, but false with
         * {@link Acks#NONE}, which has no retries.
         */
        public Builder idempotent(boolean idempotent) {
            this.idempotent = idempotent;
            this.idempotentChosen = true;
            return this;
        }

        /** How to choose a partition for records without a key and a partition. Default {@link Partitioning#STICKY}. */
        public Builder partitioning(Partitioning partitioning) {
            this.partitioning = notNull(partitioning, "partitioning");
            return this;
        }

        /**
         * The size, before compression, at which a batch is sent without waiting for more records. In bytes, at least
         * 1, default 65,536.
         */
        public Builder batchSizeBytes(int sizeBytes) {
            this.batchSizeBytes = positive(sizeBytes, "batchSizeBytes");
            return this;
        }

        /**
         * The maximum time that a record of {@code sendAsync} waits for more records of its batch, with a resolution of
         * 1 ns. Default zero: the client sends a batch as soon as it can. The next batch fills while earlier ones are in
         * flight.
         */
        public Builder linger(Duration linger) {
            millis(linger, "linger");
            this.linger = linger;
            return this;
        }

        /**
         * The maximum memory for records that are not yet acknowledged, in bytes. When it is used up, sends block. At
         * least 1, default 64 MiB.
         */
        public Builder bufferMemoryBytes(long sizeBytes) {
            this.bufferMemoryBytes = positive(sizeBytes, "bufferMemoryBytes");
            return this;
        }

        /**
         * The maximum size of a record or batch before compression, and approximately of a request, in bytes. At least
         * 1, default 1 MiB.
         */
        public Builder maxRequestSizeBytes(int sizeBytes) {
            this.maxRequestSizeBytes = positive(sizeBytes, "maxRequestSizeBytes");
            return this;
        }

        /**
         * The maximum time from a send to its acknowledgement, including retries. More than zero, default 2 min.
         */
        public Builder deliveryTimeout(Duration timeout) {
            this.deliveryTimeoutMs = positiveMillis(timeout, "deliveryTimeout");
            return this;
        }

        /**
         * A name for this producer that stays the same across restarts. If set, all records are sent in transactions
         * ({@link Producer#inTransaction}). Of several producers with the same name, only the one that began last can
         * send (KIP-98). Default none.
         */
        public Builder transactionalId(String id) {
            this.transactionalId = notEmpty(id, "transactionalId");
            return this;
        }

        /**
         * The maximum duration of a transaction. After it, the coordinator aborts the transaction. More than zero,
         * default 60 s.
         */
        public Builder transactionTimeout(Duration timeout) {
            this.transactionTimeoutMs = positiveMillis(timeout, "transactionTimeout");
            return this;
        }

        /**
         * Seals every batch for the consumers that a policy allows to read it ({@code SealPolicy} of the module {@code
         * journalq-seal}). Records that cannot be sealed are not sent: the call throws {@link
         * io.journalq.client.error.SealingException}. Default none, which costs nothing.
         */
        public Builder seal(BatchSealer.Factory policy) {
            this.seal = notNull(policy, "seal");
            return this;
        }

        /**
         * Adds an interceptor. Interceptors are called in the order in which they are added. Default none, which costs
         * nothing.
         */
        public Builder interceptor(ProducerInterceptor interceptor) {
            this.interceptors.add(notNull(interceptor, "interceptor"));
            return this;
        }

        /**
         * Creates the producer. It connects in the background; errors are reported by its first call.
         *
         * @throws IllegalArgumentException if settings contradict each other
         */
        public Producer build() {
            boolean transactional = transactionalId != null;
            if (transactional && ((acks != null && acks != Acks.ALL) || !idempotent)) {
                throw new IllegalArgumentException(
                        "transactions require acks ALL and an idempotent producer; leave both settings out");
            }
            Acks chosen = acks != null ? acks : transactional ? Acks.ALL : Acks.LEADER;
            if (acks == Acks.NONE && idempotent && idempotentChosen) {
                throw new IllegalArgumentException(
                        "an idempotent producer requires acknowledgements; use acks LEADER or ALL, or"
                                + " idempotent(false)");
            }
            if (seal != null && acks != Acks.NONE && !idempotent) {
                throw new IllegalArgumentException(
                        "retries of a producer that is not idempotent can reorder batches, which their seals forbid;"
                                + " leave idempotent(false) out");
            }
            ProducerConfig config = new ProducerConfig(
                    clientConfig(Producer.class),
                    compression,
                    chosen.code(),
                    idempotent && chosen != Acks.NONE,
                    partitioning == Partitioning.ROUND_ROBIN,
                    batchSizeBytes,
                    linger.toNanos(),
                    bufferMemoryBytes,
                    maxRequestSizeBytes,
                    deliveryTimeoutMs,
                    transactionalId,
                    seal == null ? null : seal.sealer(KeyTopics.of(this)));
            return new Producer(
                    config,
                    transactional ? new TransactionRunner.Config(transactionalId, transactionTimeoutMs) : null,
                    interceptors);
        }
    }
}
