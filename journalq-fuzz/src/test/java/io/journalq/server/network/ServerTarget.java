package io.journalq.server.network;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.CreateTopicsRequest.CreatableTopic;
import io.journalq.common.protocol.message.FindCoordinatorRequest;
import io.journalq.fuzz.FuzzTarget;
import io.journalq.fuzz.Parts;
import io.journalq.fuzz.SampleMessages;
import io.journalq.server.api.LoginRules;
import io.journalq.server.api.RequestDispatcher;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.loop.LogThrottle;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.metadata.ClientQuotas;
import io.journalq.server.security.ClientThrottles;
import io.journalq.server.security.PrincipalRules;
import io.journalq.sim.Defects;
import io.journalq.sim.world.Scheduler;
import io.journalq.sim.world.SimBroker;
import io.journalq.sim.world.SimClock;
import io.journalq.sim.world.SimNode;
import io.journalq.sim.world.SimSlices;
import io.journalq.sim.world.Violations;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.slf4j.LoggerFactory;

/**
 * A connection to a broker that runs in this thread on simulated time and files: everything from the frame decoder to
 * the response is the production code. The broker has one topic, and every name in a sample message is its name. The
 * connection must get a response or be closed, and nothing may fail unexpectedly on the way.
 */
public final class ServerTarget implements FuzzTarget {
    private static final int MAX_FRAME_BYTES = 64 * 1024;
    private static final int MAX_REQUESTS = 12;
    private static final int PREFIX_SIZE_BYTES = 2;
    private static final int HEADER_SIZE_BYTES = 12;
    private static final int MAX_STEPS = 4_000;
    private static final long RUN_MS = 20_000;

    /** Time enough to respond to one request before the next. */
    private static final long REQUEST_INTERVAL_NANOS = 20_000_000;

    private static final long MAX_ALLOCATED_BYTES = 24 << 20;
    private static final int MAX_ALLOCATED_PER_BYTE = 2_000;
    private static final Path DATA = Path.of("data");

    private static final BrokerConfig CONFIG = config();

    private final Form form;

    /** What an input is. */
    public enum Form {
        /** First byte: size of the pieces in which the rest arrives, as it is. */
        STREAM,
        /** Parts, each a request: API, version, body. Frames and headers are made for them. */
        REQUESTS
    }

    public ServerTarget(Form form) {
        this.form = form;
    }

    private static BrokerConfig config() {
        BrokerConfig config = BrokerConfig.defaults();
        String[][] settings = {
            {"data.directories", DATA.toString()},
            {"max.partitions.per.topic", "10"},
            {"max.partitions", "50"},
            {"offsets.topic.num.partitions", "1"},
            {"transaction.state.log.num.partitions", "1"},
            {"group.initial.rebalance.delay.ms", "0"},
            {"log.cleaner.dedupe.buffer.size", "1MiB"},
            {"write.ahead.max.bytes", "1MiB"},
        };
        try {
            for (String[] setting : settings) {
                config = config.with(setting[0], setting[1], ConfigOrigin.COMMAND_LINE);
            }
            return config;
        } catch (ConfigException defect) {
            throw new IllegalStateException(defect);
        }
    }

    @Override
    public String name() {
        return form == Form.STREAM ? "connections" : "requests";
    }

    @Override
    public int maxInputSizeBytes() {
        return 2_048;
    }

    @Override
    public List<byte[]> seeds() {
        List<byte[]> seeds = new ArrayList<>();
        for (ApiKey key : ApiKey.values()) {
            if (key != ApiKey.CREATE_TOPICS) {
                byte[] newest = request(key, key.highestVersion());
                seeds.add(form == Form.STREAM ? stream(newest) : Parts.of(newest));
            }
        }
        if (form == Form.REQUESTS) {
            seeds.addAll(Conversations.all());
        }
        return seeds;
    }

    private static byte[] request(ApiKey key, short version) {
        return request(key, version, SampleMessages.request(key, version));
    }

    /** One part of an input. */
    static byte[] request(ApiKey key, int version, byte[] body) {
        return ByteBuffer.allocate(PREFIX_SIZE_BYTES + body.length)
                .put((byte) key.id())
                .put((byte) version)
                .put(body)
                .array();
    }

    private static byte[] stream(byte[] request) {
        byte[] frame = frame(request, 1);
        byte[] stream = new byte[1 + frame.length];
        stream[0] = (byte) frame.length;
        System.arraycopy(frame, 0, stream, 1, frame.length);
        return stream;
    }

    /** Frame and header around a request. */
    private static byte[] frame(byte[] request, int correlationId) {
        ApiKey key = ApiKey.of((short) (request[0] & 0xFF));
        short version = (short) (request[1] & 0xFF);
        boolean flexible = key != null && key.hasVersion(version) && key.requestHeaderVersion(version) > 1;
        int bodyBytes = request.length - PREFIX_SIZE_BYTES;
        ByteBuffer frame = ByteBuffer.allocate(Integer.BYTES + HEADER_SIZE_BYTES + bodyBytes);
        frame.putInt(0).putShort(request[0] == (byte) 0xFF ? -1 : (short) (request[0] & 0xFF));
        frame.putShort(version).putInt(correlationId).putShort((short) 1).put((byte) 't');
        if (flexible) {
            frame.put((byte) 0);
        }
        frame.put(request, PREFIX_SIZE_BYTES, bodyBytes).flip();
        frame.putInt(0, frame.limit() - Integer.BYTES);
        byte[] bytes = new byte[frame.limit()];
        frame.get(bytes);
        return bytes;
    }

    @Override
    public void run(byte[] input) throws IOException {
        if (input.length == 0) {
            return;
        }
        Violations violations = new Violations();
        Defects.listen(violations);
        Random random = new Random(1);
        Scheduler scheduler = new Scheduler(random);
        SimNode node = new SimNode(0, scheduler, random, new SimClock(scheduler), scheduler::stop);
        SimBroker.Plan plan = new SimBroker.Plan(CONFIG, new SimSlices(random, node.disk(), 0), 1, 0);
        SimBroker broker = SimBroker.start(plan, node, violations);
        prepare(broker, scheduler);
        EmbeddedChannel channel = connect(broker);
        long delayNanos = 0;
        for (byte[] piece : pieces(input)) {
            node.process().after(Scheduler.Kind.CLIENT, delayNanos, () -> broker.cycle(0)
                    .loop()
                    .execute(() -> receive(channel, piece)));
            delayNanos += form == Form.STREAM ? 0 : REQUEST_INTERVAL_NANOS;
        }
        long endMs = scheduler.nowMs() + RUN_MS;
        int steps = 0;
        while (steps < MAX_STEPS && scheduler.nowMs() < endMs && violations.isEmpty() && scheduler.step()) {
            steps++;
        }
        broker.cycle(0).loop().execute(() -> channel.close().syncUninterruptibly());
        scheduler.runUntil(() -> !channel.isOpen());
        channel.releaseOutbound();
        if (!violations.isEmpty()) {
            throw new AssertionError(violations.found().get(0));
        }
    }

    private static void receive(EmbeddedChannel channel, byte[] piece) {
        if (channel.isOpen()) {
            channel.writeInbound(Unpooled.wrappedBuffer(piece));
            channel.releaseOutbound();
        }
    }

    private List<byte[]> pieces(byte[] input) {
        List<byte[]> pieces = new ArrayList<>();
        if (form == Form.STREAM) {
            int sizeBytes = Math.max(1, input[0] & 0xFF);
            ByteBuf rest = Unpooled.wrappedBuffer(input, 1, input.length - 1);
            while (rest.isReadable()) {
                byte[] piece = new byte[Math.min(sizeBytes, rest.readableBytes())];
                rest.readBytes(piece);
                pieces.add(piece);
            }
            return pieces;
        }
        Parts parts = new Parts(input);
        for (byte[] part = parts.next(); part != null && pieces.size() < MAX_REQUESTS; part = parts.next()) {
            if (part.length >= PREFIX_SIZE_BYTES) {
                pieces.add(frame(part, pieces.size()));
            }
        }
        return pieces;
    }

    /** Makes the topic, and those of the coordinators. */
    private static void prepare(SimBroker broker, Scheduler scheduler) {
        CreateTopicsRequest request = new CreateTopicsRequest()
                .setTimeoutMs(10_000)
                .setTopics(List.of(new CreatableTopic()
                        .setName(SampleMessages.NAME)
                        .setNumPartitions(2)
                        .setReplicationFactor((short) 1)));
        int[] responses = {0};
        SimBroker.Connection connection = broker.connect();
        connection.send(ApiKey.CREATE_TOPICS, 7, request, response -> responses[0]++);
        for (byte keyType = 0; keyType <= 1; keyType++) {
            FindCoordinatorRequest find =
                    new FindCoordinatorRequest().setKeyType(keyType).setCoordinatorKeys(List.of(SampleMessages.NAME));
            connection.send(ApiKey.FIND_COORDINATOR, 4, find, response -> responses[0]++);
        }
        scheduler.runUntil(() -> responses[0] == 3);
    }

    private static EmbeddedChannel connect(SimBroker broker) {
        LoopCycle cycle = broker.cycle(0);
        NetworkCounters counters = new NetworkCounters();
        ConnectionLimits limits = new ConnectionLimits(
                MAX_FRAME_BYTES,
                4,
                MAX_FRAME_BYTES,
                MAX_FRAME_BYTES,
                new ConnectionLimits.Admission(10, 10, 10_000, 600_000));
        RequestDispatcher dispatcher = new RequestDispatcher(
                broker.handlers(),
                new ClientThrottles(() -> ClientQuotas.NONE, () -> cycle.loop().nanoTime()),
                1_000,
                MemoryAccount.UNBOUNDED,
                PrincipalRules.DEFAULT,
                LoginRules.NONE);
        SharedMemory memory = SharedMemory.of(limits.maxLoopInFlightBytes(), limits.maxLoopInFlightBytes());
        LogThrottle throttle = new LogThrottle(LoggerFactory.getLogger(ServerTarget.class));
        LoopContext context = LoopContext.of(cycle, limits, memory, counters, throttle, throttle);
        EmbeddedChannel channel = new EmbeddedChannel();
        var unused = new KafkaDoor(dispatcher).open(channel, context, "PLAINTEXT");
        return channel;
    }

    /** Each input gets a new broker. */
    @Override
    public long maxAllocatedBytes(int inputSizeBytes) {
        return MAX_ALLOCATED_BYTES + (long) MAX_ALLOCATED_PER_BYTE * inputSizeBytes;
    }
}
