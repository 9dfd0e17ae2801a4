package io.journalq.bench.driver;

import io.journalq.bench.BenchException;
import io.journalq.client.Acks;
import io.journalq.client.Consumer;
import io.journalq.client.Producer;
import java.time.Duration;
import java.util.Locale;

/**
 * Applies settings of the command line to JournalQ's client, by the names of its builders. Names of durations end in Ms,
 * because the values are milliseconds. Stateless.
 */
final class JournalQClientSettings {
    private JournalQClientSettings() {}

    static void apply(Producer.Builder builder, String name, String value) {
        try {
            switch (name) {
                case "acks" -> builder.acks(Acks.valueOf(value.toUpperCase(Locale.ROOT)));
                case "idempotent" -> builder.idempotent(Boolean.parseBoolean(value));
                case "batchSizeBytes" -> builder.batchSizeBytes(Integer.parseInt(value));
                case "lingerMs" -> builder.linger(Duration.ofMillis(Integer.parseInt(value)));
                case "bufferMemoryBytes" -> builder.bufferMemoryBytes(Long.parseLong(value));
                case "maxRequestSizeBytes" -> builder.maxRequestSizeBytes(Integer.parseInt(value));
                case "deliveryTimeoutMs" -> builder.deliveryTimeout(Duration.ofMillis(Integer.parseInt(value)));
                case "requestTimeoutMs" -> builder.requestTimeout(Duration.ofMillis(Integer.parseInt(value)));
                default ->
                    throw BenchException.wrongUsage(
                            "the producer has no setting '" + name + "'",
                            "use acks, idempotent, batchSizeBytes, lingerMs, bufferMemoryBytes, maxRequestSizeBytes,"
                                    + " deliveryTimeoutMs or requestTimeoutMs");
            }
        } catch (IllegalArgumentException e) {
            throw wrongValue(name, value, e);
        }
    }

    static void apply(Consumer.Builder builder, String name, String value) {
        try {
            switch (name) {
                case "fetchMaxWaitMs" -> builder.fetchMaxWait(Duration.ofMillis(Integer.parseInt(value)));
                case "fetchMinBytes" -> builder.fetchMinBytes(Integer.parseInt(value));
                case "fetchMaxBytes" -> builder.fetchMaxBytes(Integer.parseInt(value));
                case "partitionMaxBytes" -> builder.partitionMaxBytes(Integer.parseInt(value));
                case "checkCrc" -> builder.checkCrc(Boolean.parseBoolean(value));
                default ->
                    throw BenchException.wrongUsage(
                            "the consumer has no setting 'consumer." + name + "'",
                            "use consumer. before fetchMaxWaitMs, fetchMinBytes, fetchMaxBytes, partitionMaxBytes or"
                                    + " checkCrc");
            }
        } catch (IllegalArgumentException e) {
            throw wrongValue("consumer." + name, value, e);
        }
    }

    private static BenchException wrongValue(String name, String value, IllegalArgumentException cause) {
        String reason = cause.getMessage() == null ? "" : " (" + cause.getMessage() + ")";
        return BenchException.wrongUsage(
                name + " cannot be '" + value + "'" + reason, "docs/guides/client.md describes its values");
    }
}
