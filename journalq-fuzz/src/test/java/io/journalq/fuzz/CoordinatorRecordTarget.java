package io.journalq.fuzz;

import io.journalq.common.protocol.BadFrameException;
import io.journalq.server.coordinator.CoordinatorMachine;
import io.journalq.server.coordinator.RecordTypes;
import io.journalq.server.coordinator.RetentionTime;
import io.journalq.server.group.GroupLimits;
import io.journalq.server.group.GroupLimits.GroupCount;
import io.journalq.server.group.GroupLimits.GroupMemory;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.group.GroupRecords;
import io.journalq.server.group.consumer.ConsumerGroupLimits;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.transaction.TransactionLimits;
import io.journalq.server.transaction.TransactionMachine;
import io.journalq.server.transaction.TransactionRecords;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Records of coordinators, as a broker reads and replays them from the topics that it keeps them in. First byte: groups or
 * transactions; then for each record its key and its value, an empty one for none.
 */
final class CoordinatorRecordTarget implements FuzzTarget {
    private static final int TRANSACTIONS = 1;
    /** The highest partition that a topic may have takes a set of as many bits. */
    private static final int MAX_ALLOCATED_PER_BYTE = 12_000;

    private static final int MAX_ALLOCATED_EXTRA_BYTES = 256 * 1024;
    private static final GroupLimits LIMITS = new GroupLimits(100, 1, 60_000, 0, 4_096, 60_000, 60_000);
    private static final Object[][] MESSAGES = {
        {1, 4, "group", "OffsetCommit"},
        {2, 3, "group", "GroupMetadata"},
        {1_000, 0, "group", "PendingOffset"},
        {3, 0, "group", "ConsumerGroupMetadata"},
        {5, 0, "group", "ConsumerGroupMemberMetadata"},
        {6, 0, "group", "ConsumerGroupTargetAssignmentMetadata"},
        {7, 0, "group", "ConsumerGroupTargetAssignmentMember"},
        {8, 0, "group", "ConsumerGroupCurrentMemberAssignment"},
        {16, 0, "group", "ConsumerGroupRegularExpression"},
        {0, 1, "transaction", "TransactionLog"},
    };

    @Override
    public String name() {
        return "coordinator-records";
    }

    @Override
    public List<byte[]> seeds() {
        List<byte[]> seeds = new ArrayList<>();
        for (Object[] message : MESSAGES) {
            String name = "io.journalq.server." + message[2] + ".record." + message[3];
            int newest = (int) message[1];
            byte[] key = prefixed((int) message[0], SampleMessages.encode(name + "Key", (short) 0));
            byte[] value = prefixed(newest, SampleMessages.encode(name + "Value", (short) newest));
            byte[] records = Parts.of(key, value, key, new byte[0]);
            byte[] seed = new byte[1 + records.length];
            seed[0] = (byte) (message[2].equals("transaction") ? TRANSACTIONS : 0);
            System.arraycopy(records, 0, seed, 1, records.length);
            seeds.add(seed);
        }
        return seeds;
    }

    private static byte[] prefixed(int prefix, byte[] content) {
        return ByteBuffer.allocate(Short.BYTES + content.length)
                .putShort((short) prefix)
                .put(content)
                .array();
    }

    @Override
    public void run(byte[] input) {
        Parts parts = new Parts(input);
        boolean transactions = parts.nextByte() == TRANSACTIONS;
        RecordTypes types = transactions ? TransactionRecords.TYPES : GroupRecords.TYPES;
        CoordinatorMachine machine = transactions ? transactionMachine() : groupMachine();
        byte[] key = parts.next();
        byte[] value = parts.next();
        try {
            while (key != null && value != null) {
                machine.replay(types.decode(
                        Unpooled.wrappedBuffer(key), value.length == 0 ? null : Unpooled.wrappedBuffer(value)));
                key = parts.next();
                value = parts.next();
            }
        } catch (BadFrameException expected) {
            return;
        }
    }

    private static CoordinatorMachine groupMachine() {
        return new GroupMachine(
                LIMITS,
                ConsumerGroupLimits.DEFAULT,
                GroupCount.UNLIMITED,
                GroupMemory.UNBOUNDED,
                records -> {},
                RetentionTime.CLOCK,
                () -> "id");
    }

    private static CoordinatorMachine transactionMachine() {
        return new TransactionMachine(
                records -> {},
                marker -> {},
                transactionalId -> {},
                new TransactionLimits(60_000, 60_000),
                RetentionTime.CLOCK,
                MemoryAccount.UNBOUNDED);
    }

    @Override
    public long maxAllocatedBytes(int inputSizeBytes) {
        return MAX_ALLOCATED_EXTRA_BYTES + (long) MAX_ALLOCATED_PER_BYTE * inputSizeBytes;
    }
}
