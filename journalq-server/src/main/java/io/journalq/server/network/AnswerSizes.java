package io.journalq.server.network;

import io.netty.channel.DefaultMessageSizeEstimator;
import io.netty.channel.FileRegion;
import io.netty.channel.MessageSizeEstimator;

/**
 * What answers count against a channel's high-water mark: records that go out as they lie in their file count too, else
 * a client that reads nothing could have as many answers wait as it likes. Stateless, any thread.
 */
final class AnswerSizes implements MessageSizeEstimator {
    static final AnswerSizes INSTANCE = new AnswerSizes();

    private static final Handle OTHERS = DefaultMessageSizeEstimator.DEFAULT.newHandle();
    private static final Handle HANDLE = message -> message instanceof FileRegion region
            ? (int) Math.min(Integer.MAX_VALUE, region.count())
            : OTHERS.size(message);

    private AnswerSizes() {}

    @Override
    public Handle newHandle() {
        return HANDLE;
    }
}
