package io.journalq.bench.produce;

import io.journalq.bench.BenchException;
import java.util.ArrayList;
import java.util.List;

/** The four cases of the produce benchmark. */
public enum ProduceCase {
    SYNC_SINGLE(1, "sync, 1 message", false, "none", false),
    SYNC_SINGLE_LZ4(2, "sync, 1 message, lz4", false, "lz4", false),
    ASYNC_BATCH_LZ4(3, "async, batches, lz4", true, "lz4", false),
    ASYNC_BATCH_LZ4_CONSUMED(4, "async, batches, lz4, consumed", true, "lz4", true);

    private final int number;
    private final String words;
    private final boolean batched;
    private final String compression;
    private final boolean consumed;

    ProduceCase(int number, String words, boolean batched, String compression, boolean consumed) {
        this.number = number;
        this.words = words;
        this.batched = batched;
        this.compression = compression;
        this.consumed = consumed;
    }

    public int number() {
        return number;
    }

    /** A short description. */
    public String words() {
        return words;
    }

    /** Whether batches are sent without waiting, instead of one message after the other. */
    public boolean batched() {
        return batched;
    }

    /** The name of the codec, or {@code none}. */
    public String compression() {
        return compression;
    }

    /** Whether consumers read during the run. */
    public boolean consumed() {
        return consumed;
    }

    /** Parses {@code all}, or numbers separated by commas. */
    public static List<ProduceCase> parse(String text) {
        if (text.equals("all")) {
            return List.of(values());
        }
        List<ProduceCase> cases = new ArrayList<>();
        for (String item : text.split(",", -1)) {
            cases.add(one(item.strip()));
        }
        return cases;
    }

    private static ProduceCase one(String text) {
        for (ProduceCase candidate : values()) {
            if (Integer.toString(candidate.number).equals(text)) {
                return candidate;
            }
        }
        throw BenchException.wrongUsage("there is no case '" + text + "'", "use 1, 2, 3, 4 or all");
    }
}
