package io.journalq.bench.produce;

import io.journalq.bench.driver.BrokerDriver;
import io.journalq.bench.driver.ClientDriver;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.produce.ProduceResult.Checks;
import io.journalq.bench.produce.ProduceSettings.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Verifies the messages of a run. The number of acknowledged messages must equal the growth of the partitions, and a reader
 * that is not part of the run reads back the newest messages of five partitions. One thread.
 */
final class Verification {
    private static final long TIMEOUT_MS = 60_000;
    private static final int SAMPLED_PARTITIONS = 5;
    private static final int SAMPLED_MESSAGES = 1_000;
    private static final int EVERY_MESSAGE = 1;

    private final BrokerDriver broker;
    private final ClientDriver reader;
    private final Workload workload;
    private final PayloadPool pool;
    private final List<Long> startOffsets;
    private final long storedBytesBefore;

    /** Records the ends of the partitions and their size. Everything after that belongs to the run. */
    Verification(BrokerDriver broker, ClientDriver reader, Workload workload, PayloadPool pool) {
        this.broker = broker;
        this.reader = reader;
        this.workload = workload;
        this.pool = pool;
        startOffsets = broker.endOffsets(workload.topic(), workload.partitions());
        storedBytesBefore = broker.storedBytes(workload.topic());
    }

    /** The end offset of each partition before the run. */
    List<Long> startOffsets() {
        return startOffsets;
    }

    /** Called after the last response. {@code consumption} is null if no consumers read during the run. */
    Checks check(ProduceLoad load, Consumption consumption) throws InterruptedException {
        List<Long> endOffsets = broker.endOffsets(workload.topic(), workload.partitions());
        long inJournal = 0;
        for (int partition = 0; partition < workload.partitions(); partition++) {
            inJournal += endOffsets.get(partition) - startOffsets.get(partition);
        }
        String problem = countProblem(load, inJournal);
        long verified = 0;
        if (consumption != null) {
            long toRead = inJournal * consumption.copies();
            consumption.finish(toRead, TIMEOUT_MS);
            problem = problem == null ? readProblem(consumption, toRead) : problem;
            verified += consumption.verified();
        }
        Consumption sample = readSample(endOffsets);
        problem = problem == null ? sample.problem() : problem;
        long storedBytes = broker.storedBytes(workload.topic());
        return new Checks(
                load.acknowledged(),
                inJournal,
                verified + sample.verified(),
                problem,
                storedBytes < 0 || inJournal == 0 ? -1 : (storedBytes - storedBytesBefore) / (double) inJournal);
    }

    private Consumption readSample(List<Long> endOffsets) throws InterruptedException {
        List<Long> sampleStarts = new ArrayList<>(endOffsets);
        long expected = 0;
        int step = Math.max(1, workload.partitions() / SAMPLED_PARTITIONS);
        for (int partition = 0; partition < workload.partitions(); partition += step) {
            long from = Math.max(startOffsets.get(partition), endOffsets.get(partition) - SAMPLED_MESSAGES);
            sampleStarts.set(partition, from);
            expected += endOffsets.get(partition) - from;
        }
        Consumption sample = new Consumption(pool, sampleStarts, EVERY_MESSAGE);
        sample.start(reader, broker.bootstrap(), workload.topic(), 1, Map.of());
        sample.finish(expected, TIMEOUT_MS);
        if (sample.consumed() != expected) {
            sample.noteProblem(sample.consumed() + " messages of a sample of " + expected + " were read back");
        }
        return sample;
    }

    private static String countProblem(ProduceLoad load, long inJournal) {
        if (load.errors() > 0) {
            return load.errors() + " messages failed, the first with: " + load.firstError();
        }
        if (load.acknowledged() != inJournal) {
            return load.acknowledged() + " messages were acknowledged, but the journal grew by " + inJournal;
        }
        return null;
    }

    private static String readProblem(Consumption consumption, long expected) {
        if (consumption.problem() == null && consumption.consumed() != expected) {
            return consumption.consumed() + " of " + expected + " messages were consumed";
        }
        return consumption.problem();
    }
}
