package io.journalq.fuzz;

import io.journalq.common.record.BatchReader;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;

/** Reads what an opener has written. Stateless. */
public final class OpenedBatch {
    private static final int MAX_DECOMPRESSED_SIZE_BYTES = 1 << 20;

    private OpenedBatch() {}

    /**
     * The keys, values and headers of the records, without tombstones.
     *
     * @throws io.journalq.common.record.InvalidBatchException if the batch contradicts itself, or has more than 1 MiB
     */
    public static List<String> contents(ByteBuf plain) {
        List<String> contents = new ArrayList<>();
        try (BatchReader reader =
                new BatchReader(UnpooledByteBufAllocator.DEFAULT, MAX_DECOMPRESSED_SIZE_BYTES, false)) {
            reader.reset(plain);
            while (reader.nextBatch()) {
                while (reader.next()) {
                    if (reader.value() != null) {
                        contents.add(hex(reader.key()) + " " + hex(reader.value()) + " " + reader.headers());
                    }
                }
            }
        }
        return contents;
    }

    private static String hex(ByteBuf bytes) {
        return bytes == null ? "null" : ByteBufUtil.hexDump(bytes);
    }
}
