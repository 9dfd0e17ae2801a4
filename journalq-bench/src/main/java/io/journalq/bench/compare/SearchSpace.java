package io.journalq.bench.compare;

import io.journalq.bench.compare.Sweep.Knob;
import io.journalq.bench.produce.ProduceCase;
import io.journalq.bench.produce.Tuning;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The starting point of a sweep, and the settings that it varies. For Kafka, these are the settings that its documentation
 * recommends for throughput, starting at the defaults.
 *
 * <p>The cases never have more batches in flight than partitions. Otherwise, a library that gathers would merge batches,
 * and the cases are about batches of one size. To compare larger batches, use {@code --batch}.
 */
record SearchSpace(Tuning start, List<Knob> knobs) {
    private static final int IN_FLIGHT = 64;

    static SearchSpace of(String broker, ProduceCase produceCase, boolean virtualThreads) {
        boolean kafka = broker.equals("kafka");
        if (produceCase.batched()) {
            return kafka ? kafkaBatches(produceCase) : ownBatches();
        }
        return kafka ? kafkaSync(virtualThreads) : ownSync(virtualThreads);
    }

    private static SearchSpace ownSync(boolean virtualThreads) {
        return new SearchSpace(
                new Tuning(100, virtualThreads, 1, IN_FLIGHT, Map.of()),
                List.of(
                        new Knob(Tuning.THREADS, List.of("50", "200", "400", "800", "1600", "3200", "6400")),
                        new Knob(Tuning.PRODUCERS, List.of("2", "4"))));
    }

    private static SearchSpace ownBatches() {
        return new SearchSpace(
                new Tuning(2, false, 1, IN_FLIGHT, Map.of()),
                List.of(
                        new Knob(Tuning.THREADS, List.of("1", "3", "4")),
                        new Knob(Tuning.IN_FLIGHT, List.of("16", "32", "96", "192")),
                        new Knob(Tuning.PRODUCERS, List.of("2"))));
    }

    private static SearchSpace kafkaSync(boolean virtualThreads) {
        return new SearchSpace(
                new Tuning(400, virtualThreads, 1, IN_FLIGHT, kafkaDefaults()),
                List.of(
                        new Knob(Tuning.THREADS, List.of("100", "800", "1600", "3200", "6400")),
                        new Knob("linger.ms", List.of("0", "1")),
                        new Knob("max.in.flight.requests.per.connection", List.of("1", "20")),
                        new Knob(Tuning.PRODUCERS, List.of("2", "4")),
                        new Knob("batch.size", List.of("32768", "65536")),
                        new Knob(Tuning.THREADS, List.of("3200", "6400"))));
    }

    private static SearchSpace kafkaBatches(ProduceCase produceCase) {
        List<Knob> knobs = new ArrayList<>(List.of(
                new Knob(Tuning.IN_FLIGHT, List.of("32", "96", "192")),
                new Knob("linger.ms", List.of("0", "1")),
                new Knob("batch.size", List.of("65536")),
                new Knob(Tuning.PRODUCERS, List.of("1")),
                new Knob(Tuning.THREADS, List.of("1", "3")),
                new Knob("max.in.flight.requests.per.connection", List.of("1", "20")),
                new Knob("buffer.memory", List.of("134217728"))));
        if (produceCase.consumed()) {
            knobs.add(new Knob("consumer.fetch.min.bytes", List.of("16384", "131072")));
        }
        return new SearchSpace(new Tuning(2, false, 2, IN_FLIGHT, kafkaDefaults()), knobs);
    }

    private static Map<String, String> kafkaDefaults() {
        return Map.of("linger.ms", "5", "batch.size", "16384");
    }
}
