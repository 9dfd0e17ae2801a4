package io.journalq.server.group;

import io.journalq.server.memory.MemoryAccount;

/**
 * The memory accounts of a machine.
 *
 * @param ofGroups for groups and their members
 * @param ofOffsets for committed offsets
 */
public record GroupMemory(MemoryAccount ofGroups, MemoryAccount ofOffsets) {
    /** For a machine outside of a broker. */
    public static final GroupMemory UNBOUNDED = new GroupMemory(MemoryAccount.UNBOUNDED, MemoryAccount.UNBOUNDED);
}
