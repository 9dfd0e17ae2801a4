package io.journalq.server.group.consumer;

import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.RecordTypes;
import io.journalq.server.group.consumer.assignor.RangeAssignor;
import io.journalq.server.group.consumer.assignor.UniformAssignor;
import io.journalq.server.group.model.Group.Origin;
import io.journalq.server.memory.MemoryAccount;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Consumer groups with a journal in memory. They can crash and be restored from the bytes of their records. */
final class TestCoordinator {
    static final int SESSION_TIMEOUT_MS = 45_000;
    static final int SIZE_MAX = 50;
    private static final RecordTypes TYPES =
            RecordTypes.of(ConsumerGroupRecords.types().toArray(new RecordTypes.Type[0]));

    private final List<byte[][]> journal = new ArrayList<>();
    private int generatedIds;
    private Topics topics;
    ConsumerGroups groups;

    TestCoordinator(Topics topics) {
        this.topics = topics;
        this.groups = create();
        groups.onLoaded(0);
    }

    private ConsumerGroups create() {
        ConsumerGroupLimits limits = new ConsumerGroupLimits(
                SIZE_MAX,
                5_000,
                SESSION_TIMEOUT_MS,
                MigrationPolicy.DISABLED,
                List.of(new UniformAssignor(), new RangeAssignor()));
        ConsumerGroups created = new ConsumerGroups(
                limits, this::append, MemoryAccount.UNBOUNDED, () -> "made-" + generatedIds++, (group, nowMs) -> true);
        created.onTopics(topics);
        return created;
    }

    private void append(List<CoordinatorRecord> records) {
        for (CoordinatorRecord record : records) {
            byte[][] bytes = {
                bytes(TYPES.encodeKey(record, ByteBufAllocator.DEFAULT)),
                bytes(TYPES.encodeValue(record, ByteBufAllocator.DEFAULT))
            };
            journal.add(bytes);
            groups.replay(decode(bytes));
        }
    }

    private static byte[] bytes(ByteBuf buffer) {
        if (buffer == null) {
            return null;
        }
        byte[] bytes = ByteBufUtil.getBytes(buffer);
        buffer.release();
        return bytes;
    }

    private static CoordinatorRecord decode(byte[][] record) {
        return TYPES.decode(
                Unpooled.wrappedBuffer(record[0]), record[1] == null ? null : Unpooled.wrappedBuffer(record[1]));
    }

    /**
     * Crashes and loses the last {@code lost} records. The rest is replayed first as from a store, then as from a
     * journal.
     */
    void crash(Random random, int lost, long nowMs) {
        int kept = Math.max(0, journal.size() - lost);
        journal.subList(kept, journal.size()).clear();
        groups = create();
        Map<String, byte[][]> newest = new LinkedHashMap<>();
        int stored = kept == 0 ? 0 : random.nextInt(kept);
        for (byte[][] record : journal.subList(0, stored)) {
            newest.put(Arrays.toString(record[0]), record);
        }
        List<byte[][]> shuffled = new ArrayList<>(newest.values());
        shuffled.removeIf(record -> record[1] == null);
        Collections.shuffle(shuffled, random);
        shuffled.forEach(record -> groups.replay(decode(record)));
        int again = Math.max(0, stored - random.nextInt(4));
        journal.subList(again, kept).forEach(record -> groups.replay(decode(record)));
        groups.onLoaded(nowMs);
    }

    /** Crashes and loses the records from one index to another, but not the ones behind them. */
    void crashWithout(int from, int to, long nowMs) {
        journal.subList(from, to).clear();
        groups = create();
        journal.forEach(record -> groups.replay(decode(record)));
        groups.onLoaded(nowMs);
    }

    int journalSize() {
        return journal.size();
    }

    void topics(Topics newTopics) {
        topics = newTopics;
        groups.onTopics(newTopics);
    }

    Topics topics() {
        return topics;
    }

    ConsumerGroupHeartbeatResponse heartbeat(ConsumerGroupHeartbeatRequest request, long nowMs) {
        return groups.onHeartbeat(new Origin("client", "/127.0.0.1"), (short) 1, request, nowMs);
    }
}
