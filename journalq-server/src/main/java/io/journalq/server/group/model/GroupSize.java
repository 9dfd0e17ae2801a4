package io.journalq.server.group.model;

import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.memory.TextSize;
import java.util.Map;

/**
 * What one group takes of the heap, about. It is charged while the group is one of a machine's; what changes meanwhile is
 * charged at once. The numbers are estimates, which {@code GroupMemoryTest} holds against the heap. One thread, the
 * machine's.
 */
public final class GroupSize {
    /** A group without members, with its place in maps. */
    public static final int GROUP_BYTES = 700;

    /** A member without what it says of itself, with its deadlines, its address and its places in maps. */
    public static final int MEMBER_BYTES = 800;

    /** A member that is expected back, without its id. */
    public static final int EXPECTED_MEMBER_BYTES = 200;

    /** A text, or some bytes, without its characters, with its place in a list. */
    public static final int TEXT_BYTES = 60;

    /** A member's part of a topic in an assignment, which is kept as a target, as what is in force and by its owner. */
    public static final int ASSIGNED_TOPIC_BYTES = 400;

    /** One partition of it. */
    public static final int ASSIGNED_PARTITION_BYTES = 60;

    private MemoryAccount account = MemoryAccount.UNBOUNDED;
    private long bytes = GROUP_BYTES;

    /** The group is one of a machine's now. */
    public void begin(MemoryAccount machines) {
        account = machines;
        account.add(bytes);
    }

    /** It is not any more. */
    public void end() {
        account.add(-bytes);
        account = MemoryAccount.UNBOUNDED;
    }

    /** The group became larger, or smaller when negative. */
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

    /** Size of what a leader gives to members. */
    public static long of(Map<String, byte[]> assignments) {
        return assignments.values().stream().mapToLong(GroupSize::of).sum();
    }
}
