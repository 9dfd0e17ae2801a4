package io.journalq.server.shard.healing;

import io.journalq.common.id.Uuid;

/** Learns of damage that a read has met. Any thread; does not block. */
@FunctionalInterface
public interface DamageListener {
    /** Records of a replica of this broker at or behind {@code offset} are damaged. */
    void onDamage(Uuid topicId, int partition, long offset);
}
