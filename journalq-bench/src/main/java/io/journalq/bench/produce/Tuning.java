package io.journalq.bench.produce;

import io.journalq.bench.BenchException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The settings that may differ between brokers, so that each is measured at its best.
 *
 * @param threads threads that send; they wait for each message in the synchronous cases, and build batches in the others
 * @param virtualThreads whether the threads are virtual, which requires JDK 21
 * @param producers producer instances that the threads share
 * @param inFlightBatches maximum of unacknowledged batches per thread
 * @param clientSettings settings of the client library, by its own names; those of consumers have the prefix {@code
 *     consumer.}
 */
public record Tuning(
        int threads, boolean virtualThreads, int producers, int inFlightBatches, Map<String, String> clientSettings) {

    public static final String THREADS = "threads";
    public static final String CALLERS = "callers";
    public static final String PRODUCERS = "producers";
    public static final String IN_FLIGHT = "in-flight";

    private static final String CONSUMER_PREFIX = "consumer.";

    /** Sorts the settings by name, so that their text is always the same. */
    public Tuning {
        clientSettings = new TreeMap<>(clientSettings);
    }

    /** Changes one value: one of the names above, otherwise a setting of the client library. */
    public Tuning with(String name, String value) {
        return switch (name) {
            case THREADS -> new Tuning(number(name, value), virtualThreads, producers, inFlightBatches, clientSettings);
            case CALLERS -> new Tuning(threads, isVirtual(value), producers, inFlightBatches, clientSettings);
            case PRODUCERS -> new Tuning(threads, virtualThreads, number(name, value), inFlightBatches, clientSettings);
            case IN_FLIGHT -> new Tuning(threads, virtualThreads, producers, number(name, value), clientSettings);
            default -> {
                Map<String, String> changed = new LinkedHashMap<>(clientSettings);
                changed.put(name, value);
                yield new Tuning(threads, virtualThreads, producers, inFlightBatches, changed);
            }
        };
    }

    /** The current value, as for {@link #with}; null if the client library decides. */
    public String value(String name) {
        return switch (name) {
            case THREADS -> Integer.toString(threads);
            case CALLERS -> virtualThreads ? "virtual" : "platform";
            case PRODUCERS -> Integer.toString(producers);
            case IN_FLIGHT -> Integer.toString(inFlightBatches);
            default -> clientSettings.get(name);
        };
    }

    /** The settings of producers. */
    public Map<String, String> producerSettings() {
        return clientSettings.entrySet().stream()
                .filter(setting -> !setting.getKey().startsWith(CONSUMER_PREFIX))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    /** The settings of consumers, without the prefix. */
    public Map<String, String> consumerSettings() {
        return clientSettings.entrySet().stream()
                .filter(setting -> setting.getKey().startsWith(CONSUMER_PREFIX))
                .collect(Collectors.toMap(
                        setting -> setting.getKey().substring(CONSUMER_PREFIX.length()), Map.Entry::getValue));
    }

    /** A description. {@code batched}: whether to include the limit on batches in flight. */
    public String inWords(boolean batched) {
        String words = threads
                + (virtualThreads ? " virtual" : " platform")
                + (threads == 1 ? " thread, " : " threads, ")
                + producers
                + (producers == 1 ? " producer" : " producers");
        if (batched) {
            words += ", " + inFlightBatches + " batches in flight each";
        }
        return clientSettings.isEmpty() ? words : words + ", " + clientSettings;
    }

    private static boolean isVirtual(String value) {
        return switch (value) {
            case "virtual" -> true;
            case "platform" -> false;
            default -> throw new BenchException("'" + value + "' is not a kind of threads", "use platform or virtual");
        };
    }

    private static int number(String name, String value) {
        try {
            return Integer.parseInt(value);
        } catch (NumberFormatException e) {
            throw new BenchException(name + " is '" + value + "'", "use a number", e);
        }
    }
}
