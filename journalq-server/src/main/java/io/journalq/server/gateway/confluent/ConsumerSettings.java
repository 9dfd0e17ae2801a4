package io.journalq.server.gateway.confluent;

import io.journalq.server.gateway.http.JsonObject;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import java.util.List;
import java.util.Locale;

/**
 * What a client has chosen for a consumer instance when it created it. Immutable, any thread.
 *
 * @param format of keys and values: JSON or BINARY
 * @param autoCommit whether it commits by itself what the client has received
 * @param requestTimeoutMs how long a read waits for records; from 0 to {@link #MAX_WAIT_MS}
 */
record ConsumerSettings(
        RecordDocument.Format format, ConsumerStarts.Reset reset, boolean autoCommit, int requestTimeoutMs) {
    /** Maximum time for which a read waits for records. */
    static final int MAX_WAIT_MS = 60_000;

    private static final int DEFAULT_WAIT_MS = 1_000;
    private static final String REQUEST_TIMEOUT = "consumer.request.timeout.ms";

    /** Members of the request that creates an instance, besides its name. */
    static final List<String> MEMBERS = List.of(
            "format",
            "auto.offset.reset",
            "auto.commit.enable",
            "enable.auto.commit",
            "fetch.min.bytes",
            REQUEST_TIMEOUT);

    /**
     * Reads the settings from the request that creates an instance. Those that are absent have the defaults of
     * Confluent's REST proxy.
     *
     * @throws ProblemException if one is not valid
     */
    static ConsumerSettings of(JsonObject body) {
        return new ConsumerSettings(format(body), reset(body), autoCommit(body), requestTimeoutMs(body));
    }

    private static RecordDocument.Format format(JsonObject body) {
        String text = body.text("format");
        return switch (text == null ? "binary" : text.toLowerCase(Locale.ROOT)) {
            case "binary" -> RecordDocument.Format.BINARY;
            case "json" -> RecordDocument.Format.JSON;
            default -> throw invalid("\"format\" is not binary or json; schemas are not supported");
        };
    }

    private static ConsumerStarts.Reset reset(JsonObject body) {
        String text = body.text("auto.offset.reset");
        return switch (text == null ? "latest" : text.toLowerCase(Locale.ROOT)) {
            case "earliest" -> ConsumerStarts.Reset.EARLIEST;
            case "latest" -> ConsumerStarts.Reset.LATEST;
            case "none" -> ConsumerStarts.Reset.NONE;
            default -> throw invalid("\"auto.offset.reset\" is not earliest, latest or none");
        };
    }

    private static boolean autoCommit(JsonObject body) {
        String text = body.scalar(body.has("auto.commit.enable") ? "auto.commit.enable" : "enable.auto.commit");
        return switch (text == null ? "true" : text.toLowerCase(Locale.ROOT)) {
            case "true" -> true;
            case "false" -> false;
            default -> throw invalid("\"auto.commit.enable\" is not true or false");
        };
    }

    private static int requestTimeoutMs(JsonObject body) {
        String text = body.scalar(REQUEST_TIMEOUT);
        if (text == null) {
            return DEFAULT_WAIT_MS;
        }
        long number = text.matches("\\d{1,9}") ? Long.parseLong(text) : -1;
        if (number < 0 || number > MAX_WAIT_MS) {
            throw invalid("\"" + REQUEST_TIMEOUT + "\" is not a number from 0 to " + MAX_WAIT_MS);
        }
        return (int) number;
    }

    /** The refusal of a request that creates an instance. */
    static ProblemException invalid(String detail) {
        return new Problem(ProblemType.CHANGE_REFUSED, detail, ConfluentErrors.EXAMPLES).exception();
    }
}
