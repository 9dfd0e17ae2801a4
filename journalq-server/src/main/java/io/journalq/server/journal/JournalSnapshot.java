package io.journalq.server.journal;

import java.nio.ByteBuffer;

/**
 * State derived from a journal's records.
 *
 * @param offset the state covers every record before this offset
 * @param state as passed to {@link DerivedState#writeSnapshot}
 */
public record JournalSnapshot(long offset, ByteBuffer state) {}
