package io.journalq.fuzz;

import io.journalq.client.seal.KeyLog;
import io.journalq.seal.Registry;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;

/**
 * The topics of keys, as a broker shows them. One thread.
 *
 * @param packets those in {@code jqe1.keys}, by offset; what a producer appends is added if the list can grow
 * @param registry the newest record in {@code jqe1.registry}
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record ShownKeys(List<byte[]> packets, byte[] registry) implements KeyLog {
    private static final String KEYS = "jqe1.keys";

    @Override
    public long append(String topic, byte[] key, byte[] value) {
        packets.add(value);
        return packets.size() - 1L;
    }

    @Override
    public Entry read(String topic, long offset) {
        return topic.equals(KEYS) && offset < packets.size()
                ? new Entry(offset, new byte[0], packets.get((int) offset))
                : null;
    }

    @Override
    public void readAll(String topic, Consumer<Entry> each) {
        if (topic.equals(Registry.TOPIC)) {
            each.accept(new Entry(0, "registry".getBytes(StandardCharsets.US_ASCII), registry));
        }
    }
}
