package io.journalq.bench.option;

import io.journalq.bench.BenchException;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.payload.PayloadSource;
import io.journalq.bench.payload.Stamp;
import io.journalq.common.commandline.SizeOption;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Size and content of the messages. One thread. */
public final class MessageOptions {
    private static final int POOL_SIZE_BYTES = 16 << 20;

    @Option(
            names = "--message-size",
            defaultValue = "1024",
            paramLabel = "SIZE",
            converter = SizeOption.InMemory.class,
            description = "Size of a message (default: ${DEFAULT-VALUE}).")
    private int sizeBytes;

    @Mixin
    private Content content;

    /** What the messages contain, for scenarios with several sizes. */
    public static final class Content {
        @Option(
                names = "--payload",
                defaultValue = "text",
                paramLabel = "KIND",
                description = "Content of the messages: " + PayloadSource.KINDS + " (default: ${DEFAULT-VALUE}).")
        private String kind;

        public String kind() {
            return kind;
        }

        /** Throws if no such messages can be generated. */
        public void require(int messageSizeBytes) {
            if (messageSizeBytes < Stamp.SIZE_BYTES) {
                throw BenchException.wrongUsage(
                        "a message of " + messageSizeBytes + " bytes has no room for the stamp",
                        "use " + Stamp.SIZE_BYTES + " bytes or more");
            }
            PayloadPool.require(kind, messageSizeBytes);
        }

        /** Generates messages with room for stamps. */
        public PayloadPool pool(int messageSizeBytes) {
            require(messageSizeBytes);
            return PayloadPool.buildForStamps(kind, messageSizeBytes, POOL_SIZE_BYTES);
        }
    }

    public int sizeBytes() {
        return sizeBytes;
    }

    public String payload() {
        return content.kind();
    }

    /** Generates messages with room for stamps. */
    public PayloadPool pool() {
        return content.pool(sizeBytes);
    }
}
