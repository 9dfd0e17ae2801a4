package io.journalq.sim.workload;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.sim.world.SimBroker;

/** Reads one partition from its beginning, batch by batch, and goes on where it was after the broker's restart. */
public final class Consumer {
    private static final int LONGEST_PAUSE_MS = 30;
    private static final int MAX_WAIT_MS = 100;
    private static final int[] SIZES = {1, 300, 1_000, 1 << 20};

    private final World world;
    private final PartitionHistory partition;
    private SimBroker.Connection connection;
    private long position;
    private int leaderEpoch = -1;

    public Consumer(World world, PartitionHistory partition) {
        this.world = world;
        this.partition = partition;
    }

    PartitionHistory partition() {
        return partition;
    }

    /** Offset of the next record that it reads. */
    long position() {
        return position;
    }

    /** Epoch of the record before that; -1 when it is not known. */
    int leaderEpoch() {
        return leaderEpoch;
    }

    /** The broker lives again. */
    public void onStart() {
        connection = world.broker().connect();
        pause();
    }

    private void pause() {
        world.later(LONGEST_PAUSE_MS, this::fetch);
    }

    private void fetch() {
        long from = position;
        int wait = world.random().nextBoolean() ? MAX_WAIT_MS : 0;
        int maxBytes = SIZES[world.random().nextInt(SIZES.length)];
        connection.send(
                ApiKey.FETCH,
                LogReader.FETCH_VERSION,
                LogReader.request(partition, from, leaderEpoch, wait, maxBytes),
                answer -> {
                    LogReader.Page page =
                            answer instanceof FetchResponse response ? LogReader.read(response, from) : null;
                    if (page != null) {
                        world.onRead(partition, page.records());
                    }
                    world.deliver(() -> onPage(page));
                });
    }

    private void onPage(LogReader.Page page) {
        if (page != null && page.diverging() != null && page.diverging().epoch() >= 0) {
            position = Math.min(position, page.diverging().endOffset());
            leaderEpoch = page.diverging().epoch();
        } else if (page != null && page.error() == ErrorCode.NONE) {
            position = Math.max(position, page.nextOffset());
            leaderEpoch = page.lastEpoch() >= 0 ? page.lastEpoch() : leaderEpoch;
        } else if (page != null && page.error() == ErrorCode.OFFSET_OUT_OF_RANGE) {
            // Lost or deleted, as the mode allows; the invariants judge that.
            position = Math.max(page.logStartOffset(), Math.min(position, page.highWatermark()));
            leaderEpoch = -1;
        }
        pause();
    }
}
