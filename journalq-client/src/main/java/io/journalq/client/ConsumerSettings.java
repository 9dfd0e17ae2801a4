package io.journalq.client;

import static io.journalq.client.internal.check.Arguments.millis;
import static io.journalq.client.internal.check.Arguments.notEmpty;
import static io.journalq.client.internal.check.Arguments.notNegative;
import static io.journalq.client.internal.check.Arguments.notNull;
import static io.journalq.client.internal.check.Arguments.positive;
import static io.journalq.client.internal.check.Arguments.positiveMillis;

import io.journalq.client.internal.fetch.ConsumerConfig;
import io.journalq.client.internal.membership.GroupConfig;
import io.journalq.client.seal.BatchOpener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The settings of a consumer. Not thread-safe.
 *
 * @param <B> the builder that has these settings
 */
abstract class ConsumerSettings<B extends ConsumerSettings<B>> extends ClientBuilder<B> {
    private static final int DEFAULT_FETCH_MAX_WAIT_MS = 500;
    private static final int DEFAULT_FETCH_MIN_BYTES = 1;
    private static final int DEFAULT_FETCH_MAX_BYTES = 16 * 1024 * 1024;
    private static final int DEFAULT_PARTITION_MAX_BYTES = 1024 * 1024;
    private static final int DEFAULT_MAX_POLL_INTERVAL_MS = 300_000;
    private static final int DEFAULT_AUTO_COMMIT_INTERVAL_MS = 5_000;

    private int fetchMaxWaitMs = DEFAULT_FETCH_MAX_WAIT_MS;
    private int fetchMinBytes = DEFAULT_FETCH_MIN_BYTES;
    private int fetchMaxBytes = DEFAULT_FETCH_MAX_BYTES;
    private int partitionMaxBytes = DEFAULT_PARTITION_MAX_BYTES;
    private boolean checkCrc = true;
    private Consumer.Start start = Consumer.Start.END;
    private Consumer.Isolation isolation = Consumer.Isolation.READ_UNCOMMITTED;
    private String rack = "";
    private String groupId;
    private String groupInstanceId;
    private String groupAssignor;
    private int maxPollIntervalMs = DEFAULT_MAX_POLL_INTERVAL_MS;
    private boolean autoCommit = true;
    private int autoCommitIntervalMs = DEFAULT_AUTO_COMMIT_INTERVAL_MS;
    private BatchOpener.Factory open;
    private final List<ConsumerInterceptor> interceptors = new ArrayList<>();

    ConsumerSettings() {}

    /**
     * The maximum time that the broker parks a fetch that finds less than {@link #fetchMinBytes}. Zero or more,
     * default 500 ms.
     */
    public B fetchMaxWait(Duration wait) {
        this.fetchMaxWaitMs = millis(wait, "fetchMaxWait");
        return self();
    }

    /**
     * The number of bytes at which the broker responds to a fetch without waiting longer. At least 0, default 1.
     */
    public B fetchMinBytes(int sizeBytes) {
        this.fetchMinBytes = notNegative(sizeBytes, "fetchMinBytes");
        return self();
    }

    /**
     * The maximum size of a Fetch response, in bytes. If the first batch is larger, it is returned nevertheless. At
     * least 1, default 16 MiB.
     */
    public B fetchMaxBytes(int sizeBytes) {
        this.fetchMaxBytes = positive(sizeBytes, "fetchMaxBytes");
        return self();
    }

    /**
     * The maximum size of the data of one partition in a Fetch response, in bytes. If its first batch is larger, it
     * is returned nevertheless. At least 1, default 1 MiB.
     */
    public B partitionMaxBytes(int sizeBytes) {
        this.partitionMaxBytes = positive(sizeBytes, "partitionMaxBytes");
        return self();
    }

    /** Whether the client verifies the CRC of every batch. Default true. */
    public B checkCrc(boolean check) {
        this.checkCrc = check;
        return self();
    }

    /**
     * Where reading starts if a partition has no position, or if its position is out of range. Default {@link
     * Consumer.Start#END}.
     */
    public B startAt(Consumer.Start start) {
        this.start = notNull(start, "startAt");
        return self();
    }

    /** Which records of transactions are read. Default {@link Consumer.Isolation#READ_UNCOMMITTED}. */
    public B isolation(Consumer.Isolation isolation) {
        this.isolation = notNull(isolation, "isolation");
        return self();
    }

    /**
     * Where this client is, such as a rack or an availability zone. If an in-sync replica of a partition is in the same
     * rack ({@code broker.rack}), and the leader is not, the consumer reads from that replica (KIP-392). It sees records
     * some milliseconds later then. Default: none, it reads from leaders.
     */
    public B rack(String rack) {
        this.rack = notNull(rack, "rack");
        return self();
    }

    /**
     * The id of the consumer group, whose members share the partitions and whose committed offsets are used.
     * Default none.
     */
    public B groupId(String id) {
        this.groupId = notEmpty(id, "groupId");
        return self();
    }

    /**
     * A name for this member that stays the same across restarts. If the member restarts within the session timeout
     * of the broker, it gets its partitions back, and no other member reads them in the meantime (KIP-345). Default
     * none.
     */
    public B groupInstanceId(String id) {
        this.groupInstanceId = notEmpty(id, "groupInstanceId");
        return self();
    }

    /**
     * The assignor that distributes the partitions among the members: {@code uniform} or {@code range}. Default:
     * the broker chooses.
     */
    public B groupAssignor(String name) {
        this.groupAssignor = notEmpty(name, "groupAssignor");
        return self();
    }

    /**
     * The maximum time between two polls. After it, the consumer leaves the group, and the next poll joins again. It
     * is also the time that the group waits for a member to give up partitions. More than zero, default 5 min.
     */
    public B maxPollInterval(Duration interval) {
        this.maxPollIntervalMs = positiveMillis(interval, "maxPollInterval");
        return self();
    }

    /**
     * Whether the consumer commits automatically: in polls, before it gives up partitions, and in {@link
     * Consumer#close()}. A commit covers the records that earlier polls returned. Default true. Has no effect
     * without a group id.
     */
    public B autoCommit(boolean commit) {
        this.autoCommit = commit;
        return self();
    }

    /** The minimum interval between two automatic commits. More than zero, default 5 s. */
    public B autoCommitInterval(Duration interval) {
        this.autoCommitIntervalMs = positiveMillis(interval, "autoCommitInterval");
        return self();
    }

    /**
     * Opens sealed batches according to a policy ({@code SealPolicy} of the module {@code journalq-seal}). Every batch
     * must then be sealed: a poll throws {@link io.journalq.client.error.SealViolationException} before a batch that it
     * cannot trust, and the position stays there. Default none, which costs nothing.
     */
    public B open(BatchOpener.Factory policy) {
        this.open = notNull(policy, "open");
        return self();
    }

    /** Adds an interceptor. Interceptors are called in the order in which they are added. Default none. */
    public B interceptor(ConsumerInterceptor interceptor) {
        this.interceptors.add(notNull(interceptor, "interceptor"));
        return self();
    }

    ConsumerInterceptors interceptors() {
        return new ConsumerInterceptors(interceptors);
    }

    /**
     * The settings of the group.
     *
     * @param called is informed of commits
     * @return null without a group id
     * @throws IllegalArgumentException if a setting requires a group id
     */
    GroupConfig groupConfig(ConsumerInterceptors called) {
        if (groupId == null && (groupInstanceId != null || groupAssignor != null)) {
            throw new IllegalArgumentException("groupInstanceId and groupAssignor require a groupId");
        }
        return groupId == null
                ? null
                : new GroupConfig(
                        groupId,
                        groupInstanceId,
                        groupAssignor,
                        maxPollIntervalMs,
                        autoCommit,
                        autoCommitIntervalMs,
                        called::onCommitted);
    }

    ConsumerConfig consumerConfig() {
        return new ConsumerConfig(
                clientConfig(Consumer.class),
                fetchMaxWaitMs,
                fetchMinBytes,
                fetchMaxBytes,
                partitionMaxBytes,
                checkCrc,
                start::at,
                isolation == Consumer.Isolation.READ_COMMITTED,
                rack,
                open == null ? null : open.opener(KeyTopics.of(this)));
    }
}
