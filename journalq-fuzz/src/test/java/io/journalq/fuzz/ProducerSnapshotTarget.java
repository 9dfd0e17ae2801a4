package io.journalq.fuzz;

import io.journalq.server.producerstate.PartitionTransactions;
import io.journalq.server.producerstate.ProducerDedup;
import io.journalq.server.producerstate.ProducerSnapshot;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/** The state of a partition's producers in a snapshot. First byte: whether the checksum is made right; then the bytes. */
final class ProducerSnapshotTarget implements FuzzTarget {
    private static final int RAW = 1;
    private static final int MAX_ALLOCATED_PER_BYTE = 60;
    private static final int MAX_ALLOCATED_EXTRA_BYTES = 64 * 1024;

    @Override
    public String name() {
        return "producer-snapshots";
    }

    @Override
    public List<byte[]> seeds() {
        List<byte[]> seeds = new ArrayList<>();
        ProducerDedup producers = new ProducerDedup();
        PartitionTransactions transactions = new PartitionTransactions(producers);
        seeds.add(seed(bytes(ProducerSnapshot.encode(transactions))));
        for (int batch = 0; batch < 3; batch++) {
            producers.replay(7, (short) 3, 10 * batch, 10, 100 + 10 * batch, -1, SampleBatches.TIMESTAMP_MS);
        }
        producers.replay(8, (short) 0, 0, 1, 130, -1, SampleBatches.TIMESTAMP_MS);
        transactions.replayBatch(8, 130, SampleBatches.TIMESTAMP_MS);
        seeds.add(seed(bytes(ProducerSnapshot.encode(transactions))));
        return seeds;
    }

    private static byte[] bytes(ByteBuffer snapshot) {
        byte[] bytes = new byte[snapshot.remaining()];
        snapshot.get(bytes);
        return bytes;
    }

    private static byte[] seed(byte[] snapshot) {
        byte[] seed = new byte[1 + snapshot.length];
        System.arraycopy(snapshot, 0, seed, 1, snapshot.length);
        return seed;
    }

    @Override
    public void run(byte[] input) {
        if (input.length == 0) {
            return;
        }
        if ((input[0] & RAW) == 0 && input.length > Integer.BYTES) {
            CRC32C crc = new CRC32C();
            crc.update(input, 1, input.length - 1 - Integer.BYTES);
            ByteBuffer.wrap(input).putInt(input.length - Integer.BYTES, (int) crc.getValue());
        }
        ProducerSnapshot.decode(ByteBuffer.wrap(input, 1, input.length - 1));
    }

    @Override
    public long maxAllocatedBytes(int inputSizeBytes) {
        return MAX_ALLOCATED_EXTRA_BYTES + (long) MAX_ALLOCATED_PER_BYTE * inputSizeBytes;
    }
}
