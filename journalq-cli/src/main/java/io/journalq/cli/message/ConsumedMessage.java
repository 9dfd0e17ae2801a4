package io.journalq.cli.message;

import io.journalq.common.record.Header;
import io.netty.buffer.ByteBuf;
import java.util.List;

/** A message to show. Valid only while it is shown. */
interface ConsumedMessage {
    String topic();

    /** The partition, counted from 0. */
    int partition();

    long offset();

    /** The timestamp in milliseconds since 1970 UTC, or -1 if the producer set none. */
    long timestampMs();

    /** The key, or null if there is none. */
    ByteBuf key();

    /** The value, or null for a tombstone. */
    ByteBuf value();

    /** The headers in their order; empty if there are none. */
    List<Header> headers();
}
