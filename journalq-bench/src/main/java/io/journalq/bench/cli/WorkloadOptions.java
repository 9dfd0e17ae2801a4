package io.journalq.bench.cli;

import io.journalq.bench.BenchException;
import io.journalq.bench.option.OptionTypes;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.payload.PayloadSource;
import io.journalq.bench.produce.ProduceCase;
import io.journalq.bench.produce.ProduceSettings.Workload;
import java.util.List;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The work of the produce cases, which is the same for every broker and client. One thread. */
final class WorkloadOptions {
    @Option(
            names = "--partitions",
            defaultValue = "200",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Partitions of the topic (default: ${DEFAULT-VALUE}).")
    private int partitions;

    @Option(
            names = "--payload",
            defaultValue = "text",
            paramLabel = "KIND",
            description = "Content of the messages: " + PayloadSource.KINDS + " (default: ${DEFAULT-VALUE}).")
    private String payload;

    @Option(
            names = "--batch",
            defaultValue = "100",
            paramLabel = "MESSAGES",
            converter = OptionTypes.PositiveInt.class,
            description = "Messages in a batch, in cases 3 and 4 (default: ${DEFAULT-VALUE}).")
    private int batchSize;

    @Option(
            names = "--groups",
            defaultValue = "0",
            paramLabel = "COUNT",
            converter = OptionTypes.NonNegativeInt.class,
            description = "Consumer groups that the consumers of case 4 form. Each group reads every message"
                    + " (default: 0, which means that each consumer has its own partitions).")
    private int groups;

    /** The cases of an option: numbers separated by commas, {@code all} or {@code none}. */
    record Cases(List<ProduceCase> list) {
        static Cases parse(String text) {
            try {
                return new Cases(text.equals("none") ? List.of() : ProduceCase.parse(text));
            } catch (BenchException wrong) {
                throw new TypeConversionException(wrong.getMessage());
            }
        }

        /** The cases; throws if there are none. */
        List<ProduceCase> required(String option) {
            if (list.isEmpty()) {
                throw BenchException.wrongUsage(option + " names no case", "use 1, 2, 3, 4 or all");
            }
            return list;
        }
    }

    int partitions() {
        return partitions;
    }

    String payload() {
        return payload;
    }

    int batchSize() {
        return batchSize;
    }

    int groups() {
        return groups;
    }

    Workload workload(String topic, int messageSizeBytes, int consumers) {
        if (groups > consumers) {
            throw BenchException.wrongUsage(
                    "--groups is " + groups + " for " + consumers + " consumers",
                    "use at most as many groups as there are consumers");
        }
        return new Workload(topic, partitions, messageSizeBytes, payload, batchSize, consumers, groups);
    }

    /** Generates the messages. */
    PayloadPool pool(int messageSizeBytes) {
        return PayloadPool.build(payload, messageSizeBytes, PayloadPool.DEFAULT_SIZE_BYTES);
    }
}
