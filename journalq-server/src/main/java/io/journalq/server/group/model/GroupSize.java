package io.journalq.server.group.model;

import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.memory.TextSize;
import java.util.Map;

/**
 * The estimated heap size of one group. It is charged while the group belongs to a machine, and changes are charged at
 * once. {@code GroupMemoryTest} checks the estimates. One thread, the machine's.
 */
public final class GroupSize {
    /** A group without members, with its entries in maps. */
    public static final int GROUP_BYTES = 700;

    /** A member without its metadata, with its deadlines, its address and its entries in maps. */
    public static final int MEMBER_BYTES = 800;

    /** A member that is expected to join again, without its id. */
    public static final int EXPECTED_MEMBER_BYTES = 200;

    /** A text or byte array without its content, with its entry in a list. */
    public static final int TEXT_BYTES = 60;

    /**
     * A member's part of a topic in an assignment, which is stored as the target, as the assignment in effect and by
     * owner.
     */
    public static final int ASSIGNED_TOPIC_BYTES = 400;

    /** One partition of such a part. */
    public static final int ASSIGNED_PARTITION_BYTES = 60;

    private MemoryAccount account = MemoryAccount.UNBOUNDED;
    private long bytes = GROUP_BYTES;

    /** Starts charging the group to a machine. */
    public void begin(MemoryAccount machines) {
        account = machines;
        account.add(bytes);
    }

    /** Stops charging the group. */
    public void end() {
        account.add(-bytes);
        account = MemoryAccount.UNBOUNDED;
    }

    /** Adds to the size; negative to reduce it. */
    public void add(long moreBytes) {
        bytes += moreBytes;
        account.add(moreBytes);
    }

    public long bytes() {
        return bytes;
    }

    /** Size of a text; 0 for null. */
    public static long of(String text) {
        return text == null ? 0 : TEXT_BYTES + TextSize.bytes(text);
    }

    /** Size of texts. */
    public static long of(Iterable<String> texts) {
        long sum = 0;
        for (String text : texts) {
            sum += of(text);
        }
        return sum;
    }

    /** Size of bytes; 0 for none. */
    public static long of(byte[] content) {
        return content.length == 0 ? 0 : TEXT_BYTES + content.length;
    }

    /** Size of the assignments that a leader makes. */
    public static long of(Map<String, byte[]> assignments) {
        return assignments.values().stream().mapToLong(GroupSize::of).sum();
    }
}
