package io.journalq.server.gateway.confluent;

import io.journalq.common.id.TopicPartition;
import io.journalq.server.gateway.confluent.ConsumerPositions.Assigned;
import io.journalq.server.gateway.consume.Start;
import io.journalq.server.gateway.consume.StartLookup;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.IntToLongFunction;
import java.util.function.Supplier;

/**
 * Finds where the partitions of a {@link ConsumerInstance} begin: at their committed offsets or, without these, where the
 * client has chosen. On the loop of the instance.
 */
final class ConsumerStarts {
    private static final int RETRY_MS = 200;

    private final ConsumerInstance instance;
    private final ConsumerPositions positions;
    private final Reset reset;

    /** Where a partition without a committed offset begins. */
    enum Reset {
        EARLIEST,
        LATEST,
        NONE
    }

    ConsumerStarts(ConsumerInstance instance, Reset reset) {
        this.instance = instance;
        this.positions = instance.positions();
        this.reset = reset;
    }

    /**
     * Sets the positions of partitions of a topic, or finds those that are not known.
     *
     * @param committed the committed offset of a partition; -1 if there is none
     */
    void begin(String topic, Collection<Integer> partitions, IntToLongFunction committed) {
        List<Assigned> unknown = new ArrayList<>();
        for (int partition : partitions) {
            Assigned each = positions.get(new TopicPartition(topic, partition));
            if (each == null) {
                continue;
            }
            long offset = committed.applyAsLong(partition);
            each.committed = offset;
            if (offset >= 0) {
                instance.setPosition(each, offset);
            } else {
                unknown.add(each);
            }
        }
        reset(topic, unknown);
    }

    /** The position of a partition is not in its log. Begins where the client has chosen. */
    void onOutOfRange(int number) {
        Assigned partition = positions.forget(number);
        reset(partition.name.topic(), List.of(partition));
    }

    private void reset(String topic, List<Assigned> partitions) {
        if (reset == Reset.NONE || partitions.isEmpty()) {
            instance.notifyRead();
            return;
        }
        // The client may have chosen the positions of others meanwhile.
        Supplier<List<Assigned>> unknown = () -> present(partitions).stream()
                .filter(each -> !positions.isKnown(each))
                .toList();
        find(topic, partitions, reset == Reset.EARLIEST ? Start.START : Start.END, unknown, problem -> {
            if (problem == null) {
                instance.notifyRead();
            } else if (problem.type() == ProblemType.UNAVAILABLE) {
                instance.caller().schedule(() -> reset(topic, unknown.get()), RETRY_MS);
            } else if (!unknown.get().isEmpty()) {
                instance.failReads(problem);
            }
        });
    }

    /** Sets positions to the start or the end of the log. */
    void find(String topic, List<Assigned> partitions, long timestamp, Consumer<Problem> done) {
        find(topic, partitions, timestamp, () -> present(partitions), done);
    }

    /** @param wants the partitions that take what was found */
    private void find(
            String topic,
            List<Assigned> partitions,
            long timestamp,
            Supplier<List<Assigned>> wants,
            Consumer<Problem> done) {
        Map<Integer, Long> wanted = new TreeMap<>();
        partitions.forEach(each -> wanted.put(each.name.partition(), -1L));
        new StartLookup(instance.caller(), topic, 0, done)
                .begin(new Start(topic, wanted, timestamp, false, false), found -> {
                    wants.get()
                            .forEach(each ->
                                    instance.setPosition(each, found.offsets().get(each.name.partition())));
                    done.accept(null);
                });
    }

    /** Those that the instance still has. */
    private List<Assigned> present(List<Assigned> partitions) {
        return instance.isClosed()
                ? List.of()
                : partitions.stream()
                        .filter(each -> positions.get(each.name) == each)
                        .toList();
    }
}
