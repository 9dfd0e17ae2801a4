package io.journalq.server.api;

import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.memory.TextSize;
import io.journalq.server.metadata.security.AclImage;
import io.journalq.server.security.Right;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The rights of one client that were decided before, so that a client that uses the same topics again costs one lookup.
 * They hold until an ACL changes. Of rights for names, only those that the client has are kept, so that a client that has
 * none cannot fill the memory. On the client's loop.
 */
final class KnownRights {
    /** Maximum number of rights. Beyond it, all are forgotten. */
    static final int MAX_RIGHTS = 512;

    /** Maximum length of a name that is kept. Longer ones are decided each time. */
    static final int MAX_NAME_LENGTH = 256;

    /** Estimated heap of a right without the characters of its name. */
    private static final int RIGHT_BYTES = 100;

    private final MemoryAccount memory;
    private final Map<Right, Set<String>> namesByRight = new EnumMap<>(Right.class);
    /** Whether the client has a right for some name. */
    private final Map<Right, Boolean> someByRight = new EnumMap<>(Right.class);

    private AclImage decidedBy;
    private int count;
    private long bytes;
    private boolean closed;

    /** @param memory is charged with the rights */
    KnownRights(MemoryAccount memory) {
        this.memory = memory;
    }

    /** Whether the client is known to have a right, by these ACLs. */
    boolean contains(AclImage acls, Right right, String name) {
        forgetUnlessBy(acls);
        Set<String> names = namesByRight.get(right);
        return names != null && names.contains(name);
    }

    /** Whether the client has a right for some name, by these ACLs. Null if that was not decided yet. */
    Boolean some(AclImage acls, Right right) {
        forgetUnlessBy(acls);
        return someByRight.get(right);
    }

    /** Keeps the decision on a right for some name, by the ACLs of the last call of {@link #some}. */
    void addSome(Right right, boolean allowed) {
        someByRight.put(right, allowed);
    }

    private void forgetUnlessBy(AclImage acls) {
        if (acls != decidedBy) {
            forget();
            decidedBy = acls;
        }
    }

    /** The client has a right, by the ACLs of the last call of {@link #contains}. */
    void add(Right right, String name) {
        if (closed || name.length() > MAX_NAME_LENGTH) {
            return;
        }
        if (count >= MAX_RIGHTS) {
            forget();
        }
        if (namesByRight.computeIfAbsent(right, first -> new HashSet<>()).add(name)) {
            count++;
            long added = (long) RIGHT_BYTES + TextSize.bytes(name);
            bytes += added;
            memory.add(added);
        }
    }

    /** Keeps nothing from now on, because the client has disconnected. Its last requests may still be served. */
    void close() {
        closed = true;
        forget();
    }

    /** Forgets all rights, because the client is another user now. */
    void forget() {
        namesByRight.clear();
        someByRight.clear();
        memory.add(-bytes);
        bytes = 0;
        count = 0;
    }
}
