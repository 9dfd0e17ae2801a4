package io.journalq.server.group;

import io.journalq.common.protocol.BadFrameException;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.message.ConsumerProtocolSubscription;
import io.netty.buffer.Unpooled;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** The topics in what a consumer says of itself when it joins a classic group. */
final class ConsumerSubscription {
    private ConsumerSubscription() {}

    /** The topics of a subscription; nothing when the bytes are none. */
    static Optional<Set<String>> topics(byte[] metadata) {
        try {
            MessageReader reader = new MessageReader(Unpooled.wrappedBuffer(metadata));
            short version = reader.readShort();
            if (version < 0) {
                return Optional.empty();
            }
            // Later versions only add fields behind those that are known.
            short known = (short) Math.min(version, ConsumerProtocolSubscription.HIGHEST_VERSION);
            return Optional.of(new TreeSet<>(
                    ConsumerProtocolSubscription.read(reader, known).topics()));
        } catch (BadFrameException notASubscription) {
            return Optional.empty();
        }
    }
}
