package io.journalq.server.cli.message;

import io.journalq.common.record.Header;
import java.util.List;

/**
 * One message as it is shown. Its arrays are its own.
 *
 * @param key null when there is none
 * @param value null for a tombstone
 */
@SuppressWarnings("ArrayRecordComponent") // shown once and dropped, never compared
record Message(
        String topic, int partition, long offset, long timestampMs, byte[] key, byte[] value, List<Header> headers) {}
