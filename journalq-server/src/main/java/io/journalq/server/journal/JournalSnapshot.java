package io.journalq.server.journal;

import java.nio.ByteBuffer;

/**
 * State that somebody derived from a journal's records.
 *
 * @param offset every record before it is accounted for
 * @param state as it was given to {@link DerivedState#writeSnapshot}
 */
public record JournalSnapshot(long offset, ByteBuffer state) {}
