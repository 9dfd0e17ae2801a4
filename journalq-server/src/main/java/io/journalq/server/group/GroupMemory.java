package io.journalq.server.group;

import io.journalq.server.memory.MemoryAccount;

/**
 * Where a machine charges what it keeps.
 *
 * @param ofGroups for groups and their members
 * @param ofOffsets for committed offsets
 */
public record GroupMemory(MemoryAccount ofGroups, MemoryAccount ofOffsets) {
    /** For a machine that is alone in the world. */
    public static final GroupMemory UNBOUNDED = new GroupMemory(MemoryAccount.UNBOUNDED, MemoryAccount.UNBOUNDED);
}
