package io.journalq.server.config;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Every setting of a broker. The order here is the order in {@code conf/journalq.yaml}. */
public final class BrokerSettings {
    private static final int MAX_REQUEST_BYTES = 1 << 30;
    private static final long MAX_IN_FLIGHT_BYTES = 1L << 40;
    private static final long DAY_MS = 86_400_000L;

    public static final ConfigKey<Integer> NODE_ID = ConfigKey.ofInt(
            "node.id", ConfigUnit.NONE, 0, 0, Integer.MAX_VALUE, "Number of this broker within its cluster.");
    public static final ConfigKey<List<String>> LISTENERS = ConfigKey.ofList(
                    "listeners",
                    List.of("PLAINTEXT://0.0.0.0:9092"),
                    "Where clients connect, as NAME://host:port. An empty host binds every interface, port 0 any free"
                            + " port.",
                    BrokerSettings::readListener)
            .atLeastOneItem();
    public static final ConfigKey<List<String>> ADVERTISED_LISTENERS = ConfigKey.ofList(
            "advertised.listeners",
            List.of(),
            "What clients are told to connect to, as NAME://host:port. Empty: what is in listeners; a listener on every"
                    + " interface is then advertised by the address that the client reached it at.",
            BrokerSettings::readListener);
    public static final ConfigKey<String> ADMIN_LISTENER = ConfigKey.ofText(
                    "admin.listener",
                    "localhost:9644",
                    "Where /metrics and /health are served, as host:port. Empty: nowhere.")
            .checkedBy(BrokerSettings::readAdminListener);
    public static final ConfigKey<List<String>> ADMIN_ALLOWED_HOSTS = ConfigKey.ofList(
            "admin.allowed.hosts",
            List.of(),
            "Further host names by which the admin listener may be addressed, such as that of a load balancer. Always"
                    + " allowed: IP addresses, localhost, this machine's host name, and the hosts of listeners,"
                    + " advertised.listeners and admin.listener. A request for another name is refused, which protects"
                    + " from DNS rebinding.",
            BrokerSettings::readHostName);
    public static final ConfigKey<List<String>> DATA_DIRECTORIES = ConfigKey.ofList(
                    "data.directories",
                    List.of("./data"),
                    "Folders of the journals. The first also holds the metadata log; partitions are spread over all.",
                    BrokerSettings::readFolder)
            .atLeastOneItem();
    public static final ConfigKey<Integer> SHARDS = ConfigKey.ofInt(
            "shards",
            ConfigUnit.NONE,
            0,
            0,
            1_024,
            "Event loops, each with its own connections and partitions. 0: one less than there are cores, at least 1.");

    public static final ConfigKey<Boolean> AUTO_CREATE_TOPICS = ConfigKey.ofBoolean(
            "auto.create.topics.enable", true, "Create a topic when a client that allows it asks for one.");
    public static final ConfigKey<Integer> AUTO_CREATE_TOPICS_MAX_RATE = ConfigKey.ofInt(
            "auto.create.topics.max.rate",
            ConfigUnit.NONE,
            20,
            1,
            1_000_000,
            "Topics a second that are created because clients at one address ask for them; ten seconds' worth may be used"
                    + " at once. Beyond it a client is told LEADER_NOT_AVAILABLE, and asks again. CreateTopics is not"
                    + " limited.");
    public static final ConfigKey<Boolean> DELETE_TOPICS = ConfigKey.ofBoolean(
            "delete.topic.enable", true, "Whether topics can be deleted; when not, DeleteTopics is refused.");
    public static final ConfigKey<Integer> NUM_PARTITIONS = ConfigKey.ofInt(
            "num.partitions",
            ConfigUnit.NONE,
            1,
            1,
            100_000,
            "Partitions of a topic that is created without a number of them.");
    public static final ConfigKey<Integer> MAX_PARTITIONS_PER_TOPIC = ConfigKey.ofInt(
            "max.partitions.per.topic",
            ConfigUnit.NONE,
            10_000,
            1,
            1_000_000,
            "Most partitions that a topic may have.");
    public static final ConfigKey<Integer> MAX_PARTITIONS = ConfigKey.ofInt(
            "max.partitions",
            ConfigUnit.NONE,
            100_000,
            1,
            10_000_000,
            "Most partitions of all topics together. memory.metadata.max.bytes bounds them too: a heap of 512 MiB has room"
                    + " for about 72,000 topics of one partition.");
    public static final ConfigKey<Integer> GROUP_TOPIC_PARTITIONS = ConfigKey.ofInt(
            "offsets.topic.num.partitions",
            ConfigUnit.NONE,
            16,
            1,
            1_000,
            "Partitions over which groups are spread, fixed when the first group appears.");
    public static final ConfigKey<Integer> GROUP_MAX_SIZE =
            ConfigKey.ofInt("group.max.size", ConfigUnit.NONE, 10_000, 1, 1_000_000, "Most members of a group.");
    public static final ConfigKey<Integer> GROUP_MAX_COUNT = ConfigKey.ofInt(
            "group.max.count",
            ConfigUnit.NONE,
            100_000,
            1,
            10_000_000,
            "Most groups of the broker, with members or with committed offsets; a new one beyond is refused.");
    public static final ConfigKey<Integer> GROUP_MIN_SESSION_TIMEOUT_MS = ConfigKey.ofInt(
            "group.min.session.timeout.ms",
            ConfigUnit.MILLISECONDS,
            6_000,
            1,
            Integer.MAX_VALUE,
            "Shortest time that a member may ask to be silent before it is taken for dead.");
    public static final ConfigKey<Integer> GROUP_MAX_SESSION_TIMEOUT_MS = ConfigKey.ofInt(
            "group.max.session.timeout.ms",
            ConfigUnit.MILLISECONDS,
            1_800_000,
            1,
            Integer.MAX_VALUE,
            "Longest time that a member may ask to be silent before it is taken for dead.");
    public static final ConfigKey<Integer> GROUP_INITIAL_REBALANCE_DELAY_MS = ConfigKey.ofInt(
            "group.initial.rebalance.delay.ms",
            ConfigUnit.MILLISECONDS,
            3_000,
            0,
            300_000,
            "How long a new group waits for more members before its first rebalance.");
    public static final ConfigKey<Integer> GROUP_CONSUMER_HEARTBEAT_INTERVAL_MS = ConfigKey.ofInt(
            "group.consumer.heartbeat.interval.ms",
            ConfigUnit.MILLISECONDS,
            5_000,
            1,
            Integer.MAX_VALUE,
            "How often members of the consumer protocol are told to send heartbeats.");
    public static final ConfigKey<Integer> GROUP_CONSUMER_SESSION_TIMEOUT_MS = ConfigKey.ofInt(
            "group.consumer.session.timeout.ms",
            ConfigUnit.MILLISECONDS,
            45_000,
            1,
            Integer.MAX_VALUE,
            "How long a member of the consumer protocol may be silent before it is taken for dead.");
    public static final ConfigKey<Integer> GROUP_CONSUMER_ASSIGNMENT_INTERVAL_MS = ConfigKey.ofInt(
            "group.consumer.assignment.interval.ms",
            ConfigUnit.MILLISECONDS,
            0,
            0,
            Integer.MAX_VALUE,
            "Shortest time between two assignments of a group of the consumer protocol; what changes meanwhile goes"
                    + " into the second.");
    public static final ConfigKey<Integer> GROUP_CONSUMER_MIN_SESSION_TIMEOUT_MS = ConfigKey.ofInt(
            "group.consumer.min.session.timeout.ms",
            ConfigUnit.MILLISECONDS,
            45_000,
            1,
            Integer.MAX_VALUE,
            "Shortest session time-out that a group of the consumer protocol may be given of its own.");
    public static final ConfigKey<Integer> GROUP_CONSUMER_MAX_SESSION_TIMEOUT_MS = ConfigKey.ofInt(
            "group.consumer.max.session.timeout.ms",
            ConfigUnit.MILLISECONDS,
            60_000,
            1,
            Integer.MAX_VALUE,
            "Longest session time-out that a group of the consumer protocol may be given of its own.");
    public static final ConfigKey<Integer> GROUP_CONSUMER_MIN_HEARTBEAT_INTERVAL_MS = ConfigKey.ofInt(
            "group.consumer.min.heartbeat.interval.ms",
            ConfigUnit.MILLISECONDS,
            5_000,
            1,
            Integer.MAX_VALUE,
            "Shortest interval of heartbeats that a group of the consumer protocol may be given of its own.");
    public static final ConfigKey<Integer> GROUP_CONSUMER_MAX_HEARTBEAT_INTERVAL_MS = ConfigKey.ofInt(
            "group.consumer.max.heartbeat.interval.ms",
            ConfigUnit.MILLISECONDS,
            15_000,
            1,
            Integer.MAX_VALUE,
            "Longest interval of heartbeats that a group of the consumer protocol may be given of its own.");
    public static final ConfigKey<Integer> GROUP_CONSUMER_MIN_ASSIGNMENT_INTERVAL_MS = ConfigKey.ofInt(
            "group.consumer.min.assignment.interval.ms",
            ConfigUnit.MILLISECONDS,
            0,
            0,
            Integer.MAX_VALUE,
            "Shortest interval of assignments that a group of the consumer protocol may be given of its own.");
    public static final ConfigKey<Integer> GROUP_CONSUMER_MAX_ASSIGNMENT_INTERVAL_MS = ConfigKey.ofInt(
            "group.consumer.max.assignment.interval.ms",
            ConfigUnit.MILLISECONDS,
            15_000,
            0,
            Integer.MAX_VALUE,
            "Longest interval of assignments that a group of the consumer protocol may be given of its own.");
    public static final ConfigKey<String> GROUP_CONSUMER_MIGRATION_POLICY = ConfigKey.ofChoice(
            "group.consumer.migration.policy",
            "bidirectional",
            List.of("bidirectional", "upgrade", "downgrade", "disabled"),
            "Which groups may change their protocol while they have members. upgrade: to the consumer protocol, when"
                    + " its first member joins; downgrade: back to the classic one, when its last member leaves.");
    public static final ConfigKey<Integer> OFFSET_METADATA_MAX_BYTES = ConfigKey.ofInt(
            "offset.metadata.max.bytes",
            ConfigUnit.BYTES,
            4_096,
            0,
            1 << 20,
            "Longest text that a client may keep with a committed offset.");
    public static final ConfigKey<Integer> OFFSETS_RETENTION_MINUTES = ConfigKey.ofInt(
            "offsets.retention.minutes",
            ConfigUnit.NONE,
            10_080,
            1,
            Integer.MAX_VALUE,
            "How long committed offsets are kept once a group has no members, or does not read the topic; in minutes.");
    public static final ConfigKey<Long> OFFSETS_RETENTION_CHECK_INTERVAL_MS = ConfigKey.ofLong(
            "offsets.retention.check.interval.ms",
            ConfigUnit.MILLISECONDS,
            600_000L,
            1L,
            DAY_MS,
            "How often that is checked.");
    public static final ConfigKey<Integer> TRANSACTION_TOPIC_PARTITIONS = ConfigKey.ofInt(
            "transaction.state.log.num.partitions",
            ConfigUnit.NONE,
            16,
            1,
            1_000,
            "Partitions over which transactions are spread, fixed when the first transactional producer appears.");
    public static final ConfigKey<Integer> TRANSACTION_MAX_TIMEOUT_MS = ConfigKey.ofInt(
            "transaction.max.timeout.ms",
            ConfigUnit.MILLISECONDS,
            900_000,
            1,
            Integer.MAX_VALUE,
            "Longest time-out that a producer may ask for its transactions; one that is open for longer is aborted.");
    public static final ConfigKey<Long> TRANSACTIONAL_ID_EXPIRATION_MS = ConfigKey.ofLong(
            "transactional.id.expiration.ms",
            ConfigUnit.MILLISECONDS,
            7 * DAY_MS,
            1L,
            Integer.MAX_VALUE * 1_000L,
            "How long a transactional id that nobody uses is remembered.");

    public static final ConfigKey<Integer> SOCKET_REQUEST_MAX_BYTES = ConfigKey.ofInt(
            "socket.request.max.bytes",
            ConfigUnit.BYTES,
            100 << 20,
            1 << 10,
            MAX_REQUEST_BYTES,
            "Largest request; a client that announces a larger one is disconnected.");
    public static final ConfigKey<Integer> REQUEST_MAX_ENTRIES = ConfigKey.ofInt(
            "request.max.entries",
            ConfigUnit.NONE,
            300_000,
            1_000,
            100_000_000,
            "Most topics, partitions, members and the like that one request may name, all together; a client that"
                    + " names more is disconnected. Memory for a request is up to some hundred bytes for each.");
    public static final ConfigKey<Integer> MAX_CONNECTIONS =
            ConfigKey.ofInt("max.connections", ConfigUnit.NONE, 20_000, 1, 10_000_000, "Most open connections.");
    public static final ConfigKey<Integer> MAX_CONNECTIONS_PER_IP = ConfigKey.ofInt(
            "max.connections.per.ip",
            ConfigUnit.NONE,
            Integer.MAX_VALUE,
            1,
            Integer.MAX_VALUE,
            "Most open connections from one address.");
    public static final ConfigKey<Integer> MAX_CONNECTION_CREATION_RATE = ConfigKey.ofInt(
            "max.connection.creation.rate",
            ConfigUnit.NONE,
            5_000,
            1,
            Integer.MAX_VALUE,
            "Most connections that a listener accepts in a second, spread over it; others wait in the system's queue.");
    public static final ConfigKey<Long> CONNECTIONS_MAX_IDLE_MS = ConfigKey.ofLong(
            "connections.max.idle.ms",
            ConfigUnit.MILLISECONDS,
            600_000L,
            1L,
            30 * DAY_MS,
            "A connection on which no request is completed, worked on or answered for so long is closed; so is one"
                    + " whose client takes longer to send a request, or to read an answer.");
    public static final ConfigKey<Integer> QUEUED_MAX_REQUESTS = ConfigKey.ofInt(
            "connection.queued.max.requests",
            ConfigUnit.NONE,
            1_024,
            1,
            1_000_000,
            "Unanswered requests of one connection before its socket is left unread.");
    public static final ConfigKey<Long> CONNECTION_IN_FLIGHT_MAX_BYTES = ConfigKey.ofLong(
            "connection.in.flight.max.bytes",
            ConfigUnit.BYTES,
            64L << 20,
            1L << 10,
            MAX_IN_FLIGHT_BYTES,
            "Size of one connection's unanswered requests before its socket is left unread.");
    public static final ConfigKey<Long> TOTAL_IN_FLIGHT_MAX_BYTES = ConfigKey.ofLong(
            "total.in.flight.max.bytes",
            ConfigUnit.BYTES,
            0L,
            0L,
            MAX_IN_FLIGHT_BYTES,
            "Memory for all unanswered requests before sockets are left unread. Half of it is for requests above 1 MiB, and"
                    + " must hold the largest. 0 takes half of the direct memory that the process may use, which is the"
                    + " most that can be set; unless -XX:MaxDirectMemorySize is given, that is as much as the heap.");
    public static final ConfigKey<Integer> FETCH_MAX_BYTES = ConfigKey.ofInt(
            "fetch.max.bytes",
            ConfigUnit.BYTES,
            55 << 20,
            1 << 10,
            MAX_REQUEST_BYTES,
            "Largest answer to a fetch; one message larger than this is still sent, alone.");
    public static final ConfigKey<Integer> FETCH_SESSIONS_MAX_PARTITIONS = ConfigKey.ofInt(
            "fetch.sessions.max.partitions",
            ConfigUnit.NONE,
            1_000_000,
            0,
            Integer.MAX_VALUE,
            "Most partitions that all fetch sessions remember for their clients; a client beyond has none, and names"
                    + " its partitions in each request.");
    public static final ConfigKey<Long> RETENTION_CHECK_INTERVAL_MS = ConfigKey.ofLong(
            "log.retention.check.interval.ms",
            ConfigUnit.MILLISECONDS,
            300_000L,
            1L,
            DAY_MS,
            "How often journals are checked for segments past their retention.");
    public static final ConfigKey<Long> RETENTION_CLOCK_JUMP_MAX_MS = ConfigKey.ofLong(
            "retention.clock.jump.max.ms",
            ConfigUnit.MILLISECONDS,
            4 * DAY_MS,
            -1L,
            Long.MAX_VALUE,
            "How far the clock may be ahead of the time that the broker last ran at. When it is further ahead, nothing is"
                    + " deleted by time until the clock is set right, or the broker has run for as long; -1 always"
                    + " believes the clock.");
    public static final ConfigKey<Long> UNWRITTEN_MAX_BYTES = ConfigKey.ofLong(
            "unwritten.max.bytes",
            ConfigUnit.BYTES,
            16L << 20,
            1L,
            16L << 30,
            "Most that is acknowledged from memory in delivery mode performance and not written yet, of all topics"
                    + " together; beyond it is written before write.interval.ms is over.");
    public static final ConfigKey<Integer> DECOMPRESSION_INLINE_MAX_BYTES = ConfigKey.ofInt(
            "decompression.inline.max.bytes",
            ConfigUnit.BYTES,
            1 << 20,
            1,
            MAX_REQUEST_BYTES,
            "Largest batch, decompressed, that an event loop looks into itself while others wait. A larger one goes to a"
                    + " thread that may block, and what comes for its partition waits behind it. Of batches beyond 16 times"
                    + " their compressed size a loop looks into eight times so much together in an iteration; of those that are"
                    + " to be compressed anew, into a sixteenth of it.");
    public static final ConfigKey<Long> WRITE_AHEAD_MAX_BYTES = ConfigKey.ofLong(
            "write.ahead.max.bytes",
            ConfigUnit.BYTES,
            256L << 20,
            0L,
            1L << 30,
            "Most that the write-ahead files of one data folder occupy, by which topics in delivery mode consistent share"
                    + " one sync; made as they are needed. 0 for none: each topic's own files are synced instead.");
    public static final ConfigKey<Integer> LOG_CLEANER_THREADS = ConfigKey.ofInt(
            "log.cleaner.threads",
            ConfigUnit.NONE,
            1,
            1,
            64,
            "How many partitions are compacted at the same time, on the threads that wait for the disk.");
    public static final ConfigKey<Long> LOG_CLEANER_DEDUPE_BUFFER_SIZE = ConfigKey.ofLong(
            "log.cleaner.dedupe.buffer.size",
            ConfigUnit.BYTES,
            64L << 20,
            64L << 10,
            16L << 30,
            "Most memory for keys that all compactions take together, 24 bytes a key; with less it takes more passes.");
    public static final ConfigKey<Long> LOG_CLEANER_BACKOFF_MS = ConfigKey.ofLong(
            "log.cleaner.backoff.ms",
            ConfigUnit.MILLISECONDS,
            15_000L,
            1L,
            DAY_MS,
            "How long to wait before looking again, when no partition was worth compacting.");
    public static final ConfigKey<Long> PRODUCER_ID_EXPIRATION_MS = ConfigKey.ofLong(
            "producer.id.expiration.ms",
            ConfigUnit.MILLISECONDS,
            DAY_MS,
            1L,
            Long.MAX_VALUE,
            "How long an idempotent producer's sequence numbers are remembered after its last message.");
    public static final ConfigKey<Long> PRODUCER_ID_EXPIRATION_CHECK_INTERVAL_MS = ConfigKey.ofLong(
            "producer.id.expiration.check.interval.ms",
            ConfigUnit.MILLISECONDS,
            600_000L,
            1L,
            DAY_MS,
            "How often that is checked.");
    /** The bounds of what state takes of the heap, by the name of the part. */
    public static final Map<String, ConfigKey<Long>> MEMORY_MAX_BYTES = memoryKeys();

    public static final ConfigKey<Integer> TELEMETRY_MAX_BYTES = ConfigKey.ofInt(
            "telemetry.max.bytes",
            ConfigUnit.BYTES,
            1 << 20,
            1,
            16 << 20,
            "Most that a client may send at once of the metrics that it is asked for.");
    public static final ConfigKey<Long> SHUTDOWN_TIMEOUT_MS = ConfigKey.ofLong(
            "shutdown.timeout.ms",
            ConfigUnit.MILLISECONDS,
            30_000L,
            0L,
            3_600_000L,
            "How long a stop waits for requests under way.");

    /** Those above, and behind them the defaults of every topic's settings. */
    public static final ConfigKeys ALL = all();

    /** Those that can be changed while the broker runs: the defaults of topics and groups, and what is read as it goes. */
    public static final ConfigKeys DYNAMIC = dynamic();

    private BrokerSettings() {}

    private static ConfigKeys dynamic() {
        List<ConfigKey<?>> keys = new ArrayList<>(List.of(
                GROUP_CONSUMER_HEARTBEAT_INTERVAL_MS,
                GROUP_CONSUMER_SESSION_TIMEOUT_MS,
                GROUP_CONSUMER_ASSIGNMENT_INTERVAL_MS,
                PRODUCER_ID_EXPIRATION_MS));
        keys.addAll(TopicSettings.ALL.all());
        return new ConfigKeys(keys);
    }

    private static ConfigKeys all() {
        List<ConfigKey<?>> keys = new ArrayList<>(List.of(
                NODE_ID,
                LISTENERS,
                ADVERTISED_LISTENERS,
                ADMIN_LISTENER,
                ADMIN_ALLOWED_HOSTS,
                DATA_DIRECTORIES,
                SHARDS,
                AUTO_CREATE_TOPICS,
                AUTO_CREATE_TOPICS_MAX_RATE,
                DELETE_TOPICS,
                NUM_PARTITIONS,
                MAX_PARTITIONS_PER_TOPIC,
                MAX_PARTITIONS,
                GROUP_TOPIC_PARTITIONS,
                GROUP_MAX_SIZE,
                GROUP_MAX_COUNT,
                GROUP_MIN_SESSION_TIMEOUT_MS,
                GROUP_MAX_SESSION_TIMEOUT_MS,
                GROUP_INITIAL_REBALANCE_DELAY_MS,
                GROUP_CONSUMER_HEARTBEAT_INTERVAL_MS,
                GROUP_CONSUMER_SESSION_TIMEOUT_MS,
                GROUP_CONSUMER_ASSIGNMENT_INTERVAL_MS,
                GROUP_CONSUMER_MIN_SESSION_TIMEOUT_MS,
                GROUP_CONSUMER_MAX_SESSION_TIMEOUT_MS,
                GROUP_CONSUMER_MIN_HEARTBEAT_INTERVAL_MS,
                GROUP_CONSUMER_MAX_HEARTBEAT_INTERVAL_MS,
                GROUP_CONSUMER_MIN_ASSIGNMENT_INTERVAL_MS,
                GROUP_CONSUMER_MAX_ASSIGNMENT_INTERVAL_MS,
                GROUP_CONSUMER_MIGRATION_POLICY,
                OFFSET_METADATA_MAX_BYTES,
                OFFSETS_RETENTION_MINUTES,
                OFFSETS_RETENTION_CHECK_INTERVAL_MS,
                TRANSACTION_TOPIC_PARTITIONS,
                TRANSACTION_MAX_TIMEOUT_MS,
                TRANSACTIONAL_ID_EXPIRATION_MS,
                SOCKET_REQUEST_MAX_BYTES,
                REQUEST_MAX_ENTRIES,
                MAX_CONNECTIONS,
                MAX_CONNECTIONS_PER_IP,
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
                        "Most heap that " + what + " take, as estimated. 0: " + percent + " % of the heap."));
    }

    private static String readListener(String text) throws ConfigException {
        return ListenerAddress.parse(text).toString();
    }

    private static String readHostName(String text) throws ConfigException {
        if (!text.matches("[A-Za-z0-9_.-]{1,253}")) {
            throw new ConfigException("'" + text + "' is not a host name");
        }
        return text;
    }

    private static String readFolder(String text) throws ConfigException {
        try {
            return Path.of(text).toString();
        } catch (InvalidPathException wrong) {
            throw new ConfigException("'" + text + "' is no path: " + wrong.getReason());
        }
    }

    private static String readAdminListener(String text) throws ConfigException {
        if (!text.isBlank()) {
            ListenerAddress.parse(text);
        }
        return text.strip();
    }
}
