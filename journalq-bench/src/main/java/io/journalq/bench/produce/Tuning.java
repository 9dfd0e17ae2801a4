package io.journalq.bench.produce;

import io.journalq.bench.BenchException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * How the work is done: what may differ between brokers so that each shows its best.
 *
 * @param threads callers; each sends and waits in the synchronous cases, builds batches in the others
 * @param virtualThreads whether they are virtual; needs a JDK of 21 or newer
 * @param producers producer instances that the threads share
 * @param inFlightBatches most batches of one thread that are not answered yet
 * @param clientSettings the client library's own, by its own names; those of its consumer begin with {@code consumer.}
 */
public record Tuning(
        int threads, boolean virtualThreads, int producers, int inFlightBatches, Map<String, String> clientSettings) {

    public static final String THREADS = "threads";
    public static final String CALLERS = "callers";
    public static final String PRODUCERS = "producers";
    public static final String IN_FLIGHT = "in-flight";

    private static final String CONSUMER_PREFIX = "consumer.";

    /** Keeps the settings in the order of their names, so that words about them are the same every time. */
    public Tuning {
        clientSettings = new TreeMap<>(clientSettings);
    }

    /** The same with one value changed: one of the names above, or else a setting of the client library. */
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

    /** What {@link #with} would be given to leave a value as it is; null when the client library decides. */
    public String value(String name) {
        return switch (name) {
            case THREADS -> Integer.toString(threads);
            case CALLERS -> virtualThreads ? "virtual" : "platform";
            case PRODUCERS -> Integer.toString(producers);
            case IN_FLIGHT -> Integer.toString(inFlightBatches);
            default -> clientSettings.get(name);
        };
    }

    /** The client settings that a producer takes. */
    public Map<String, String> producerSettings() {
        return clientSettings.entrySet().stream()
                .filter(setting -> !setting.getKey().startsWith(CONSUMER_PREFIX))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    /** The client settings that a consumer takes, by the names that it knows them by. */
    public Map<String, String> consumerSettings() {
        return clientSettings.entrySet().stream()
                .filter(setting -> setting.getKey().startsWith(CONSUMER_PREFIX))
                .collect(Collectors.toMap(
                        setting -> setting.getKey().substring(CONSUMER_PREFIX.length()), Map.Entry::getValue));
    }

    /** For people; {@code batched}: whether the bound on batches in flight has a meaning. */
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
            default -> throw new BenchException("there are no '" + value + "' threads", "use platform or virtual");
        };
    }

    private static int number(String name, String value) {
        try {
            return Integer.parseInt(value);
        } catch (NumberFormatException e) {
            throw new BenchException(name + " is '" + value + "'", "give a number", e);
        }
    }
}
