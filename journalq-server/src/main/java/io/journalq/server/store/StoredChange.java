package io.journalq.server.store;

/**
 * The newest record of a key. The arrays are not to be changed.
 *
 * @param key as it stands in the journal
 * @param value as it stands in the journal; null when the key is gone
 */
@SuppressWarnings("ArrayRecordComponent") // A plain holder, never compared.
public record StoredChange(byte[] key, byte[] value) {}
