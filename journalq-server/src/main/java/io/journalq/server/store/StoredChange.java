package io.journalq.server.store;

/**
 * The newest record of a key. The arrays must not be modified.
 *
 * @param key as it stands in the journal
 * @param value as it stands in the journal; null when the key was deleted
 */
@SuppressWarnings("ArrayRecordComponent") // A data holder that is never compared.
public record StoredChange(byte[] key, byte[] value) {}
