package io.journalq.chaos;

import io.journalq.chaos.hostile.MemoryFlood;
import io.journalq.chaos.load.BrokerReports;
import io.journalq.chaos.load.Ledger;
import io.journalq.client.Admin;
import io.journalq.client.admin.TopicListing;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** Injects faults one after the other. After each, it kills the broker and starts it again. One thread. */
final class Cycle {
    private static final String FLOOD_PREFIX = "flood-";
    private static final int DELETED_AT_ONCE = 200;
    private static final int LONGEST_FREEZE_MS = 800;
    private static final int LONGEST_LIFE_MS = 1_500;
    private static final int FLOOD_MS = 10_000;
    private static final int FLOOD_PROGRESS = 100;
    private static final long FLOOD_PROGRESS_LIMIT_MS = 60_000;
    private static final long PRODUCER_LIMIT_MS = 30_000;
    private static final long OFFLINE_LIMIT_MS = 15_000;
    private static final long REPORT_LIMIT_MS = 5_000;
    private static final int POLL_MS = 50;

    /** Time within which acknowledgements arrive that the broker sent before the directory went offline. */
    private static final long LATE_MS = 1_000;

    /** Period in which nothing may be acknowledged. */
    private static final long SILENCE_MS = 1_500;

    /** The broker cannot be used any more, and nothing else can be checked. The message is the finding. */
    static final class BrokerLostException extends Exception {
        private static final long serialVersionUID = 1L;

        BrokerLostException(String finding) {
            super(finding);
        }
    }

    private final BrokerUnderTest broker;
    private final int port;
    private final HealthPage health;
    private final Ledger ledger;
    private final JournalDamage damage;
    private final Random random;
    private final Map<InjectedFault, Integer> counts = new EnumMap<>(InjectedFault.class);
    private final Map<String, Integer> details = new TreeMap<>();
    private int floods;
    /** Length of the log after the last cycle. */
    private long lifeLogStart;

    private long longestWaitNanos;

    /** @param damage flips bits in the journals of this broker */
    Cycle(BrokerUnderTest broker, int port, HealthPage health, Ledger ledger, JournalDamage damage, Random random) {
        this.broker = broker;
        this.port = port;
        this.health = health;
        this.ledger = ledger;
        this.damage = damage;
        this.random = random;
    }

    /**
     * Injects one fault, and leaves the broker running.
     *
     * @throws BrokerLostException if the broker does not run any more
     */
    void run(InjectedFault fault) throws IOException, InterruptedException, BrokerLostException {
        awaitEveryProducer();
        counts.merge(fault, 1, Integer::sum);
        requireAlive("before " + fault.name().toLowerCase(Locale.ROOT));
        switch (fault) {
            case KILL -> {
                broker.kill();
                start();
            }
            case FREEZE -> freeze();
            case DAMAGE -> damage();
            case DIRECTORY -> directory();
            case FLOOD -> flood();
        }
        String failure = BrokerReports.unexpectedFailure(broker.logSince(lifeLogStart));
        if (failure != null) {
            ledger.report(
                    "unexpected failure before or after " + fault.name().toLowerCase(Locale.ROOT) + ": " + failure);
        }
        lifeLogStart = broker.logEnd();
    }

    /**
     * Waits until the broker has acknowledged a message to every producer in every partition. Otherwise, a producer
     * that gets no processor time in several short lives of the broker would look like a partition that makes no
     * progress.
     */
    private void awaitEveryProducer() throws InterruptedException, BrokerLostException {
        long startNanos = System.nanoTime();
        List<String> waiting = ledger.waiting();
        while (!waiting.isEmpty()) {
            requireAlive("before it had acknowledged a message to each producer");
            if (System.nanoTime() - startNanos > TimeUnit.MILLISECONDS.toNanos(PRODUCER_LIMIT_MS)) {
                broker.dumpStacks();
                ledger.report("no message was acknowledged for " + PRODUCER_LIMIT_MS + " ms to " + waiting
                        + "; the broker's log has the stacks of its threads");
                return;
            }
            Thread.sleep(POLL_MS);
            waiting = ledger.waiting();
        }
        longestWaitNanos = Math.max(longestWaitNanos, System.nanoTime() - startNanos);
    }

    /** The number of times that each fault was injected, as text. */
    String summary() {
        StringBuilder text = new StringBuilder("faults:");
        counts.forEach((fault, count) -> text.append(' ')
                .append(fault.name().toLowerCase(Locale.ROOT))
                .append(' ')
                .append(count));
        details.forEach(
                (detail, count) -> text.append("; ").append(detail).append(' ').append(count));
        return text.append("; longest wait for a producer ")
                .append(TimeUnit.NANOSECONDS.toMillis(longestWaitNanos))
                .append(" ms")
                .toString();
    }

    private void count(String detail) {
        details.merge(detail, 1, Integer::sum);
    }

    private void requireAlive(String when) throws BrokerLostException {
        if (!broker.isAlive()) {
            throw new BrokerLostException(
                    "the broker ended on its own with exit code " + broker.exitCode() + " " + when + "; see its log");
        }
    }

    private void start() throws IOException, InterruptedException, BrokerLostException {
        if (!broker.startsUp()) {
            throw new BrokerLostException("the broker does not start; see its log");
        }
        ledger.onStarted();
    }

    private void freeze() throws IOException, InterruptedException, BrokerLostException {
        broker.freeze();
        Thread.sleep(random.nextInt(LONGEST_FREEZE_MS));
        if (random.nextBoolean()) {
            broker.thaw();
            Thread.sleep(random.nextInt(LONGEST_LIFE_MS));
            requireAlive("after a freeze");
        }
        broker.kill();
        start();
    }

    // Fault: damage.

    private void damage() throws IOException, InterruptedException, BrokerLostException {
        broker.kill();
        switch (random.nextInt(4)) {
            case 0 -> damageMetadata();
            case 1 -> damageCheckpointed();
            default -> damageNotCheckpointed();
        }
    }

    /**
     * Damages a batch that no checkpoint covers. The start reads it, leaves it out and reports it. If there is no such
     * batch, damages one that a checkpoint covers.
     */
    private void damageNotCheckpointed() throws IOException, InterruptedException, BrokerLostException {
        JournalDamage.Loss loss = damage.damageNotCheckpointed(random);
        if (loss == null) {
            damageCheckpointed();
            return;
        }
        JournalDamage.Flip flip = loss.flip();
        count("batches damaged");
        ledger.onDamaged(flip.partition(), loss.messages());
        if (!flip.isFoundByVerify()) {
            ledger.report("journal verify does not find the damage in " + flip);
        }
        long logStart = broker.logEnd();
        start();
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(REPORT_LIMIT_MS);
        while (!flip.isUndone()
                && !BrokerReports.namesDamage(broker.logSince(logStart), flip.file(), flip.position())) {
            if (System.nanoTime() > endNanos) {
                ledger.report("the broker does not report the damage in " + flip);
                return;
            }
            Thread.sleep(POLL_MS);
        }
    }

    /**
     * Damages a batch that a checkpoint covers. A start does not read such a batch, but {@code journal verify} does.
     * Restores the bit afterwards.
     */
    private void damageCheckpointed() throws IOException, InterruptedException, BrokerLostException {
        JournalDamage.Flip flip = damage.damageCheckpointed(random);
        if (flip == null) {
            count("nothing to damage");
        } else {
            count("checkpointed batches damaged");
            if (!flip.isFoundByVerify()) {
                ledger.report("journal verify does not find the damage in " + flip);
            }
            flip.undo();
        }
        start();
    }

    /**
     * Damages the metadata log. The broker must refuse to start and report why. Restores the bit afterwards. If the
     * snapshot holds all metadata, damages a partition instead.
     */
    private void damageMetadata() throws IOException, InterruptedException, BrokerLostException {
        JournalDamage.Flip flip = damage.damageMetadata(random);
        if (flip == null) {
            damageCheckpointed();
            return;
        }
        count("metadata damaged");
        long logStart = broker.logEnd();
        if (broker.startsUp()) {
            throw new BrokerLostException("the broker starts with a damaged metadata log: " + flip);
        }
        if (!BrokerReports.refusesDamagedMetadata(broker.logSince(logStart), flip.file())) {
            ledger.report("the broker does not report where its metadata log is damaged and how to repair it: " + flip);
        }
        flip.undo();
        start();
    }

    // Fault: directory.

    private void directory() throws IOException, InterruptedException, BrokerLostException {
        Path data = broker.dataDirectory();
        switch (random.nextInt(3)) {
            case 0 -> {
                count("metadata moved away");
                startWithout(data.resolve(BrokerReports.METADATA_DIRECTORY));
            }
            case 1 -> {
                count("identity moved away");
                runWithout(data.resolve(BrokerReports.IDENTITY_FILE));
            }
            default -> {
                count("data directory moved away");
                runWithout(data);
            }
        }
    }

    /**
     * Moves a file or directory away while the broker runs. Until the broker notices, it acknowledges what it writes to
     * its open files. A rename does not affect these, so nothing is lost.
     */
    private void runWithout(Path path) throws IOException, InterruptedException, BrokerLostException {
        if (!Files.exists(path)) {
            ledger.report("there is no " + path);
            broker.kill();
            start();
            return;
        }
        broker.losesDirectory();
        Path away = moveAway(path);
        boolean isOffline = false;
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(OFFLINE_LIMIT_MS);
        while (!isOffline && broker.isAlive() && System.nanoTime() < endNanos) {
            Thread.sleep(POLL_MS);
            isOffline = health.saysOffline(broker.dataDirectory());
        }
        requireAlive("when " + path + " was moved away");
        broker.losesDirectory();
        if (!isOffline) {
            ledger.report("/health does not report the directory as offline " + OFFLINE_LIMIT_MS + " ms after " + path
                    + " was moved away");
        }
        Thread.sleep(LATE_MS);
        long before = ledger.acknowledgedCount();
        Thread.sleep(SILENCE_MS);
        long more = ledger.acknowledgedCount() - before;
        if (more > 0) {
            ledger.report(more + " messages were acknowledged in " + SILENCE_MS + " ms without " + path);
        }
        broker.kill();
        moveBack(away, path);
        start();
    }

    /** Moves a file or directory away from a killed broker, which must then refuse to start. */
    private void startWithout(Path path) throws IOException, InterruptedException, BrokerLostException {
        broker.kill();
        Path away = moveAway(path);
        long logStart = broker.logEnd();
        if (broker.startsUp()) {
            ledger.report("the broker starts without " + path);
            broker.kill();
        } else if (!BrokerReports.refusesMissingMetadata(broker.logSince(logStart), broker.dataDirectory())) {
            ledger.report("the broker does not report that it lacks " + path);
        }
        moveBack(away, path);
        start();
    }

    private Path moveAway(Path path) throws IOException {
        Path away = broker.dataDirectory().resolveSibling("moved-away");
        return Files.move(path, away, StandardCopyOption.ATOMIC_MOVE);
    }

    private void moveBack(Path away, Path path) throws IOException {
        if (Files.exists(path)) {
            ledger.report("the broker created a new " + path + " after the old one was moved away");
            ChaosMain.delete(path);
        }
        Files.move(away, path, StandardCopyOption.ATOMIC_MOVE);
    }

    // Fault: flood.

    private void flood() throws IOException, InterruptedException, BrokerLostException {
        MemoryFlood[] all = MemoryFlood.values();
        MemoryFlood kind = all[random.nextInt(all.length)];
        String name = kind.name().toLowerCase(Locale.ROOT).replace('_', ' ');
        count("floods of " + name);
        kind.run(port, FLOOD_PREFIX + floods++, FLOOD_MS);
        requireAlive("in a flood of " + name);
        long wanted = ledger.acknowledgedCount() + FLOOD_PROGRESS;
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(FLOOD_PROGRESS_LIMIT_MS);
        while (ledger.acknowledgedCount() < wanted) {
            requireAlive("after a flood of " + name);
            if (System.nanoTime() > endNanos) {
                ledger.report("the load makes no progress after a flood of " + name);
                break;
            }
            Thread.sleep(POLL_MS);
        }
        deleteFloodTopics();
        broker.kill();
        start();
    }

    /** Deletes the topics of the floods. Otherwise each start would take longer than the one before. */
    private void deleteFloodTopics() {
        try (Admin admin = Admin.builder().bootstrapServers(broker.address()).build()) {
            List<String> names = admin.listTopics().stream()
                    .map(TopicListing::name)
                    .filter(name -> name.startsWith(FLOOD_PREFIX))
                    .toList();
            for (int i = 0; i < names.size(); i += DELETED_AT_ONCE) {
                admin.deleteTopics(names.subList(i, Math.min(names.size(), i + DELETED_AT_ONCE)));
            }
        } catch (RuntimeException failure) {
            ledger.report("the topics of a flood cannot be deleted: " + failure);
        }
    }
}
