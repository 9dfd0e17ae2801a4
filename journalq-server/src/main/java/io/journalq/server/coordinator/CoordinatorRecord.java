package io.journalq.server.coordinator;

import io.journalq.common.protocol.Message;
import java.util.Objects;

/**
 * A change of a coordinator's state: the newest value of a key.
 *
 * @param key one of the key types of the coordinator's {@link RecordTypes}
 * @param value of the value type that belongs to the key's type; null if the key is deleted
 */
public record CoordinatorRecord(Message key, Message value) {
    public CoordinatorRecord {
        Objects.requireNonNull(key, "key");
    }

    /** A record that deletes {@code key}. */
    public static CoordinatorRecord tombstone(Message key) {
        return new CoordinatorRecord(key, null);
    }
}
