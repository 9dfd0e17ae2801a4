package io.journalq.cli.message;

import io.journalq.common.record.Header;
import io.netty.buffer.ByteBuf;
import java.util.List;

/** One message as it is shown; valid only while it is. */
interface Message {
    String topic();

    /** Zero-based. */
    int partition();

    long offset();

    /** Milliseconds since 1970; -1 when the producer gave none. */
    long timestampMs();

    /** Null when there is none. */
    ByteBuf key();

    /** Null for a tombstone. */
    ByteBuf value();

    /** In their order; empty when there are none. */
    List<Header> headers();
}
