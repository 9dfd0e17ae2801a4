package io.journalq.server.config;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Every setting of a broker, in the order of {@code conf/journalq.yaml}. */
public final class BrokerSettings {
    private static final int MAX_REQUEST_BYTES = 1 << 30;
    private static final long MAX_IN_FLIGHT_BYTES = 1L << 40;
    private static final long DAY_MS = 86_400_000L;

    public static final ConfigKey<Integer> NODE_ID =
            ConfigKey.ofInt("node.id", ConfigUnit.NONE, 0, 0, Integer.MAX_VALUE, "Id of this broker in its cluster.");
    public static final ConfigKey<String> BROKER_RACK = ConfigKey.ofText(
            "broker.rack",
            "",
            "Where this broker is, such as a rack or an availability zone. Clients see it. The replicas of a partition "
                    + "are placed in as many racks as possible. If empty, the broker has no rack.");
    public static final ConfigKey<Integer> METRICS_TOPICS_MAX = ConfigKey.ofInt(
            "metrics.topics.max",
            ConfigUnit.NONE,
            1_000,
            0,
            100_000,
            "Maximum number of topics with series of their own in the metrics. The first topics by name have them "
                    + "after a start, then those that are created first. The other topics share the label "
                    + "topic=\"(other)\".");
    public static final ConfigKey<Integer> METRICS_GROUPS_MAX = ConfigKey.ofInt(
            "metrics.groups.max",
            ConfigUnit.NONE,
            1_000,
            0,
            100_000,
            "Maximum number of pairs of a group and a topic whose lag is in the metrics. Further pairs are only "
                    + "counted. With 0, the broker does not compute lags.");
    public static final ConfigKey<List<String>> DATA_DIRECTORIES = ConfigKey.ofList(
                    "data.directories",
                    List.of("./data"),
                    "Directories of the journals. A relative path is relative to the directory that contains bin, not"
                            + " to the working directory. The first one also holds the metadata log. Partitions are"
                            + " distributed over all of them.",
                    BrokerSettings::readDirectory)
            .atLeastOneItem();
    public static final ConfigKey<Integer> SHARDS = ConfigKey.ofInt(
            "shards",
            ConfigUnit.NONE,
            0,
            0,
            1_024,
            "Number of event loops, each with its own connections and partitions. With 0, the number of "
                    + "cores less one, and at least 1. The broker starts at most as many as there are cores.");

    public static final ConfigKey<Boolean> AUTO_CREATE_TOPICS = ConfigKey.ofBoolean(
            "auto.create.topics.enable",
            true,
            "Whether the broker creates an unknown topic when a client requests it and allows its creation.");
    public static final ConfigKey<Integer> AUTO_CREATE_TOPICS_MAX_RATE = ConfigKey.ofInt(
            "auto.create.topics.max.rate",
            ConfigUnit.NONE,
            20,
            1,
            1_000_000,
            "Maximum number of topics a second that the broker auto-creates for clients of one address, "
                    + "with a burst of ten seconds. Beyond it, the client gets LEADER_NOT_AVAILABLE and retries. "
                    + "CreateTopics is not limited.");
    public static final ConfigKey<Boolean> DELETE_TOPICS = ConfigKey.ofBoolean(
            "delete.topic.enable", true, "Whether topics can be deleted. If not, DeleteTopics is refused.");
    public static final ConfigKey<Integer> NUM_PARTITIONS = ConfigKey.ofInt(
            "num.partitions",
            ConfigUnit.NONE,
            1,
            1,
            100_000,
            "Number of partitions of a topic that is created without a number of partitions.");
    public static final ConfigKey<Integer> MAX_PARTITIONS_PER_TOPIC = ConfigKey.ofInt(
            "max.partitions.per.topic",
            ConfigUnit.NONE,
            10_000,
            1,
            1_000_000,
            "Maximum number of partitions of a topic.");
    public static final ConfigKey<Integer> MAX_PARTITIONS = ConfigKey.ofInt(
            "max.partitions",
            ConfigUnit.NONE,
            100_000,
            1,
            10_000_000,
            "Maximum number of partitions of all topics. memory.metadata.max.bytes limits them too: a heap of 512 MiB"
                    + " has room for about 58,000 topics of one partition.");

    public static final ConfigKey<Integer> SOCKET_REQUEST_MAX_BYTES = ConfigKey.ofInt(
            "socket.request.max.bytes",
            ConfigUnit.BYTES,
            100 << 20,
            1 << 10,
            MAX_REQUEST_BYTES,
            "Maximum size of a request. The broker closes the connection of a client that announces a "
                    + "larger one.");
    public static final ConfigKey<Integer> REQUEST_MAX_ENTRIES = ConfigKey.ofInt(
            "request.max.entries",
            ConfigUnit.NONE,
            300_000,
            1_000,
            100_000_000,
            "Maximum number of entries (topics, partitions, members and the like) of a request. The broker "
                    + "closes the connection of a client that exceeds it. An entry uses up to some hundred bytes.");
    public static final ConfigKey<Integer> MAX_CONNECTIONS = ConfigKey.ofInt(
            "max.connections", ConfigUnit.NONE, 20_000, 1, 10_000_000, "Maximum number of open connections.");
    public static final ConfigKey<Integer> MAX_CONNECTIONS_PER_IP = ConfigKey.ofInt(
            "max.connections.per.ip",
            ConfigUnit.NONE,
            Integer.MAX_VALUE,
            1,
            Integer.MAX_VALUE,
            "Maximum number of open connections of one address.");
    public static final ConfigKey<Integer> MAX_UNAUTHENTICATED_CONNECTIONS_PER_IP = ConfigKey.ofInt(
            "max.unauthenticated.connections.per.ip",
            ConfigUnit.NONE,
            20,
            1,
            Integer.MAX_VALUE,
            "Maximum number of open connections of one address whose clients have not logged in yet, or on a listener of "
                    + "SSL not completed the handshake. Further ones are closed. Raise it if many clients share an "
                    + "address and connect at the same time. The addresses of an IPv6 network of 64 bits count as one.");
    public static final ConfigKey<Integer> MAX_AUTHENTICATION_FAILURES_PER_IP = ConfigKey.ofInt(
            "max.authentication.failures.per.ip",
            ConfigUnit.NONE,
            10,
            0,
            Integer.MAX_VALUE,
            "Number of logins of one address with a wrong user, password or token within a minute at which the broker "
                    + "refuses further logins of the address for a minute. Clients that have logged in are not affected. "
                    + "Raise it if many clients share an address, such as that of a proxy. 0: no limit.");
    public static final ConfigKey<Integer> MAX_CONNECTION_CREATION_RATE = ConfigKey.ofInt(
            "max.connection.creation.rate",
            ConfigUnit.NONE,
            5_000,
            1,
            Integer.MAX_VALUE,
            "Maximum number of connections that a listener accepts in a second, spread over the second. "
                    + "Further connections wait in the backlog of the operating system.");
    public static final ConfigKey<Long> CONNECTIONS_MAX_IDLE_MS = ConfigKey.ofLong(
            "connections.max.idle.ms",
            ConfigUnit.MILLISECONDS,
            600_000L,
            1L,
            30 * DAY_MS,
            "Time after which a connection is closed if no request is completed on it. This also applies to "
                    + "a client that takes longer to send a request or to read a response.");
    public static final ConfigKey<Integer> QUEUED_MAX_REQUESTS = ConfigKey.ofInt(
            "connection.queued.max.requests",
            ConfigUnit.NONE,
            1_024,
            1,
            1_000_000,
            "Number of requests in flight of one connection at which the broker stops reading its socket.");
    public static final ConfigKey<Long> CONNECTION_IN_FLIGHT_MAX_BYTES = ConfigKey.ofLong(
            "connection.in.flight.max.bytes",
            ConfigUnit.BYTES,
            64L << 20,
            1L << 10,
            MAX_IN_FLIGHT_BYTES,
            "Size of the requests in flight of one connection at which the broker stops reading its socket.");
    public static final ConfigKey<Long> TOTAL_IN_FLIGHT_MAX_BYTES = ConfigKey.ofLong(
            "total.in.flight.max.bytes",
            ConfigUnit.BYTES,
            0L,
            0L,
            MAX_IN_FLIGHT_BYTES,
            "Memory for all requests in flight, at which the broker stops reading sockets. Half of it is "
                    + "for requests above 1 MiB, and must hold the largest one. With 0, half of the direct memory, "
                    + "which is also the maximum. Unless -XX:MaxDirectMemorySize is given, the process has as much "
                    + "direct memory as heap.");
    public static final ConfigKey<Integer> FETCH_MAX_BYTES = ConfigKey.ofInt(
            "fetch.max.bytes",
            ConfigUnit.BYTES,
            55 << 20,
            1 << 10,
            MAX_REQUEST_BYTES,
            "Maximum size of a Fetch response. A single larger record is still sent, alone.");
    public static final ConfigKey<Integer> FETCH_SESSIONS_MAX_PARTITIONS = ConfigKey.ofInt(
            "fetch.sessions.max.partitions",
            ConfigUnit.NONE,
            1_000_000,
            0,
            Integer.MAX_VALUE,
            "Maximum number of partitions in all fetch sessions. Further clients get no session, and name "
                    + "their partitions in each request.");
    public static final ConfigKey<Long> RETENTION_CHECK_INTERVAL_MS = ConfigKey.ofLong(
            "log.retention.check.interval.ms",
            ConfigUnit.MILLISECONDS,
            300_000L,
            1L,
            DAY_MS,
            "Interval of the check for segments to delete.");
    public static final ConfigKey<Long> RETENTION_CLOCK_JUMP_MAX_MS = ConfigKey.ofLong(
            "retention.clock.jump.max.ms",
            ConfigUnit.MILLISECONDS,
            4 * DAY_MS,
            -1L,
            Long.MAX_VALUE,
            "Maximum time by which the clock may be ahead of the time that the broker last ran at. Beyond "
                    + "it, retention by time is paused until the clock is corrected, or until the broker has run for "
                    + "as long. With -1, the clock is always trusted.");
    public static final ConfigKey<Long> UNWRITTEN_MAX_BYTES = ConfigKey.ofLong(
            "unwritten.max.bytes",
            ConfigUnit.BYTES,
            16L << 20,
            1L,
            16L << 30,
            "Maximum size of the records in delivery mode performance that are acknowledged and not yet written, for"
                    + " all topics. Beyond it, the broker writes them before write.interval.ms has passed.");
    public static final ConfigKey<Integer> DECOMPRESSION_INLINE_MAX_BYTES = ConfigKey.ofInt(
            "decompression.inline.max.bytes",
            ConfigUnit.BYTES,
            1 << 20,
            1,
            MAX_REQUEST_BYTES,
            "Maximum decompressed size of a batch that an event loop validates itself. Larger batches are "
                    + "validated off the event loop, and later batches of the same partition wait for them. In an "
                    + "iteration, an event loop validates at most eight times this size of batches that exceed 16 "
                    + "times their compressed size, and a sixteenth of it of batches to be recompressed.");
    public static final ConfigKey<Long> WRITE_AHEAD_MAX_BYTES = ConfigKey.ofLong(
            "write.ahead.max.bytes",
            ConfigUnit.BYTES,
            256L << 20,
            0L,
            1L << 30,
            "Maximum size of the write-ahead files of a data directory, with which topics in delivery mode "
                    + "consistent share fsyncs. They are created when they are needed. With 0, there are none, and "
                    + "the files of each partition are fsynced.");
    public static final ConfigKey<Integer> LOG_CLEANER_THREADS = ConfigKey.ofInt(
            "log.cleaner.threads",
            ConfigUnit.NONE,
            1,
            1,
            64,
            "Number of partitions that are compacted at the same time.");
    public static final ConfigKey<Long> LOG_CLEANER_DEDUPE_BUFFER_SIZE = ConfigKey.ofLong(
            "log.cleaner.dedupe.buffer.size",
            ConfigUnit.BYTES,
            64L << 20,
            64L << 10,
            16L << 30,
            "Maximum memory for the keys of all compactions, at 24 bytes a key. With less memory, a "
                    + "compaction needs more passes.");
    public static final ConfigKey<Long> LOG_CLEANER_BACKOFF_MS = ConfigKey.ofLong(
            "log.cleaner.backoff.ms",
            ConfigUnit.MILLISECONDS,
            15_000L,
            1L,
            DAY_MS,
            "Time until the next check if no partition needed a compaction.");
    public static final ConfigKey<Long> SCRUB_INTERVAL_MS = ConfigKey.ofLong(
            "scrub.interval.ms",
            ConfigUnit.MILLISECONDS,
            7 * DAY_MS,
            0L,
            Long.MAX_VALUE,
            "Interval in which the broker reads all of its records to find damage. The first time is an hour after its "
                    + "start at the latest. 0: only what clients read is checked.");
    public static final ConfigKey<Long> SCRUB_BYTES_PER_SECOND = ConfigKey.ofLong(
            "scrub.bytes.per.second",
            ConfigUnit.BYTES,
            8L << 20,
            1L,
            Long.MAX_VALUE,
            "How fast the broker reads its records to find damage.");
    public static final ConfigKey<Long> PRODUCER_ID_EXPIRATION_MS = ConfigKey.ofLong(
            "producer.id.expiration.ms",
            ConfigUnit.MILLISECONDS,
            DAY_MS,
            1L,
            Long.MAX_VALUE,
            "Time after the last record of an idempotent producer after which its sequence numbers expire.");
    public static final ConfigKey<Long> PRODUCER_ID_EXPIRATION_CHECK_INTERVAL_MS = ConfigKey.ofLong(
            "producer.id.expiration.check.interval.ms",
            ConfigUnit.MILLISECONDS,
            600_000L,
            1L,
            DAY_MS,
            "Interval of the check for expired producers.");
    /** The heap bound of each kind of state, by the name of the part. */
    public static final Map<String, ConfigKey<Long>> MEMORY_MAX_BYTES = memoryKeys();

    public static final ConfigKey<Integer> TELEMETRY_MAX_BYTES = ConfigKey.ofInt(
            "telemetry.max.bytes", ConfigUnit.BYTES, 1 << 20, 1, 16 << 20, "Maximum size of a push of client metrics.");
    public static final ConfigKey<Long> SHUTDOWN_TIMEOUT_MS = ConfigKey.ofLong(
            "shutdown.timeout.ms",
            ConfigUnit.MILLISECONDS,
            30_000L,
            0L,
            3_600_000L,
            "Time that a stop waits for requests in flight.");

    /** The settings of the broker, followed by the defaults of all topic settings. */
    public static final ConfigKeys ALL = all();

    /**
     * The settings that can be changed while the broker runs: the defaults of topics and groups, and settings that are
     * read at each use.
     */
    public static final ConfigKeys DYNAMIC = dynamic();

    private BrokerSettings() {}

    private static ConfigKeys dynamic() {
        List<ConfigKey<?>> keys = new ArrayList<>(List.of(
                CoordinatorSettings.GROUP_CONSUMER_HEARTBEAT_INTERVAL_MS,
                CoordinatorSettings.GROUP_CONSUMER_SESSION_TIMEOUT_MS,
                CoordinatorSettings.GROUP_CONSUMER_ASSIGNMENT_INTERVAL_MS,
                PRODUCER_ID_EXPIRATION_MS,
                ReplicationSettings.LEADER_THROTTLED_RATE,
                ReplicationSettings.FOLLOWER_THROTTLED_RATE));
        keys.addAll(TopicSettings.ALL.all());
        return new ConfigKeys(keys);
    }

    private static ConfigKeys all() {
        List<ConfigKey<?>> keys = new ArrayList<>();
        keys.addAll(List.of(NODE_ID, BROKER_RACK));
        keys.addAll(SecuritySettings.ALL);
        keys.addAll(ListenerSettings.ALL);
        keys.addAll(TokenSettings.ALL);
        keys.addAll(AccessSettings.ALL);
        keys.addAll(List.of(
                METRICS_TOPICS_MAX,
                METRICS_GROUPS_MAX,
                DATA_DIRECTORIES,
                SHARDS,
                AUTO_CREATE_TOPICS,
                AUTO_CREATE_TOPICS_MAX_RATE,
                DELETE_TOPICS,
                NUM_PARTITIONS,
                MAX_PARTITIONS_PER_TOPIC,
                MAX_PARTITIONS));
        keys.addAll(ReplicationSettings.ALL);
        keys.addAll(CoordinatorSettings.ALL);
        keys.addAll(List.of(
                SOCKET_REQUEST_MAX_BYTES,
                REQUEST_MAX_ENTRIES,
                MAX_CONNECTIONS,
                MAX_CONNECTIONS_PER_IP,
                MAX_UNAUTHENTICATED_CONNECTIONS_PER_IP,
                MAX_AUTHENTICATION_FAILURES_PER_IP,
                MAX_CONNECTION_CREATION_RATE,
                CONNECTIONS_MAX_IDLE_MS,
                QUEUED_MAX_REQUESTS,
                CONNECTION_IN_FLIGHT_MAX_BYTES,
                TOTAL_IN_FLIGHT_MAX_BYTES,
                FETCH_MAX_BYTES,
                FETCH_SESSIONS_MAX_PARTITIONS,
                RETENTION_CHECK_INTERVAL_MS,
                RETENTION_CLOCK_JUMP_MAX_MS,
                UNWRITTEN_MAX_BYTES,
                DECOMPRESSION_INLINE_MAX_BYTES,
                WRITE_AHEAD_MAX_BYTES,
                LOG_CLEANER_THREADS,
                LOG_CLEANER_DEDUPE_BUFFER_SIZE,
                LOG_CLEANER_BACKOFF_MS,
                SCRUB_INTERVAL_MS,
                SCRUB_BYTES_PER_SECOND,
                PRODUCER_ID_EXPIRATION_MS,
                PRODUCER_ID_EXPIRATION_CHECK_INTERVAL_MS,
                TELEMETRY_MAX_BYTES,
                SHUTDOWN_TIMEOUT_MS));
        keys.addAll(MEMORY_MAX_BYTES.values());
        keys.addAll(TopicSettings.ALL.all());
        return new ConfigKeys(keys);
    }

    private static Map<String, ConfigKey<Long>> memoryKeys() {
        Map<String, ConfigKey<Long>> keys = new LinkedHashMap<>();
        addMemoryKey(keys, "metadata", 25, "topics, partitions, settings and quotas");
        addMemoryKey(keys, "groups", 10, "groups and their members");
        addMemoryKey(keys, "offsets", 8, "committed offsets");
        addMemoryKey(keys, "transactions", 4, "transactional ids and the partitions of their transactions");
        addMemoryKey(keys, "producers", 5, "idempotent producers that partitions remember");
        addMemoryKey(keys, "connections", 4, "open connections, without their requests");
        addMemoryKey(keys, "fetch.sessions", 3, "partitions that fetch sessions remember");
        addMemoryKey(keys, "client.metrics", 1, "clients that send metrics of their own");
        return Collections.unmodifiableMap(keys);
    }

    private static void addMemoryKey(Map<String, ConfigKey<Long>> keys, String part, int percent, String what) {
        keys.put(
                part,
                ConfigKey.ofLong(
                        "memory." + part + ".max.bytes",
                        ConfigUnit.BYTES,
                        0L,
                        0L,
                        1L << 40,
                        "Maximum heap for " + what + ", by estimate. With 0, " + percent + " % of the heap."));
    }

    private static String readDirectory(String text) throws ConfigException {
        try {
            return Path.of(text).toString();
        } catch (InvalidPathException wrong) {
            throw new ConfigException("'" + text + "' is not a path: " + wrong.getReason());
        }
    }
}
