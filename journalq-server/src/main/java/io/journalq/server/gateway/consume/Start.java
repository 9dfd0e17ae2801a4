package io.journalq.server.gateway.consume;

import io.journalq.common.protocol.ApiKey;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.RouteDescription.Parameter;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.security.Right;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * Where a reader begins, as the parameters of its request say.
 *
 * <ul>
 * <li>{@code from=start} or {@code from=end}; {@code offset=} with {@code partition=}; {@code time=} in ms since 1970 UTC
 *     or ISO 8601; or {@code cursor=}. Only one of them.
 * <li>{@code partition=}: only this partition.
 * </ul>
 *
 * @param offsets the offset of each partition; -1 where {@code timestamp} determines it
 * @param timestamp of ListOffsets
 * @param exact whether an offset that is not in the log is an error of the client
 * @param allPartitions whether partitions that are added to the topic belong to it
 */
public record Start(String topic, Map<Integer, Long> offsets, long timestamp, boolean exact, boolean allPartitions) {
    /** Partitions that one request reads. Their cursor fits into the head of the next request. */
    public static final int MAX_PARTITIONS = 256;

    /** The parameters that {@link #of} reads. */
    static final List<Parameter> PARAMETERS = List.of(
            Parameter.optional("from", "start or end of the log"),
            Parameter.optional("offset", "begin at this offset of the partition"),
            Parameter.optional("time", "begin at the first record of this time: ms since 1970 UTC, or ISO 8601"),
            Parameter.optional(
                    "cursor",
                    "continue where another request ended; partitions that were added since are read from their starts,"
                            + " unless the cursor ends with only"),
            Parameter.optional("partition", "read this partition only"));

    /** Their names. */
    public static final List<String> NAMES =
            PARAMETERS.stream().map(Parameter::name).toList();

    /** Special timestamps of ListOffsets: the end and the start of the log. */
    public static final long END = -1;

    public static final long START = -2;

    private static final String LAST_EVENT_ID = "Last-Event-ID";

    /**
     * Reads the parameters of a request.
     *
     * @param byDefault where it begins without them: {@link #START} or {@link #END}
     */
    static Start of(HttpExchange exchange, MetadataImage image, long byDefault) {
        return of(exchange, exchange.pathParameter("topic"), exchange::parameter, image, byDefault);
    }

    /**
     * Reads the parameters of a request or message.
     *
     * @param parameters returns the value of a parameter, or null
     * @param byDefault where it begins without them: {@link #START} or {@link #END}
     */
    public static Start of(
            HttpExchange exchange, String name, UnaryOperator<String> parameters, MetadataImage image, long byDefault) {
        TopicImage topic = topic(exchange, name, image);
        int count = topic.partitions().size();
        String from = parameters.apply("from");
        String time = parameters.apply("time");
        String cursor = parameters.apply("cursor");
        Long offset = number("offset", parameters.apply("offset"), Long.MAX_VALUE);
        Long partition = number("partition", parameters.apply("partition"), Integer.MAX_VALUE);
        int starts =
                (from == null ? 0 : 1) + (time == null ? 0 : 1) + (cursor == null ? 0 : 1) + (offset == null ? 0 : 1);
        if (starts > 1) {
            throw HttpExchange.invalid("there are several positions", "send one of from, offset, time and cursor");
        }
        if (offset != null && partition == null) {
            throw HttpExchange.invalid("an offset needs a partition", "add partition=");
        }
        if (cursor != null && partition != null) {
            throw HttpExchange.invalid("a cursor names its partitions", "leave partition= out");
        }
        if (cursor != null) {
            return at(topic.name(), cursor, count);
        }
        Map<Integer, Long> offsets = unknown(partition, count);
        if (offset != null) {
            offsets.put(partition.intValue(), offset);
        }
        check(offsets, count);
        return new Start(topic.name(), offsets, timestamp(from, time, byDefault), offset != null, partition == null);
    }

    /** Begins at a cursor. Partitions that it does not have are read from their starts. */
    private static Start at(String topic, String cursor, int count) {
        Map<Integer, Long> offsets = Cursor.parse(Cursor.withoutOnly(cursor));
        boolean all = !Cursor.isOnly(cursor);
        if (all) {
            unknown(null, count).forEach(offsets::putIfAbsent);
        }
        check(offsets, count);
        return new Start(topic, offsets, START, false, all);
    }

    /** The cursor at which another request continues the reading. */
    public String cursor(Map<Integer, Long> positions) {
        return allPartitions ? Cursor.format(positions) : Cursor.formatOnly(positions);
    }

    /**
     * As {@link #of}, for a client that may have lost its connection: if it sends the id of the last event that it has
     * received, this id is the position, and the parameters are those of the first connection. Partitions that were added
     * to the topic since are read from their starts.
     */
    static Start afterLastEvent(HttpExchange exchange, MetadataImage image, long byDefault) {
        Start first = of(exchange, image, byDefault);
        String lastEventId = exchange.header(LAST_EVENT_ID);
        if (lastEventId == null || lastEventId.isEmpty()) {
            return first;
        }
        int count = topic(exchange, exchange.pathParameter("topic"), image)
                .partitions()
                .size();
        Map<Integer, Long> offsets = Cursor.parse(lastEventId);
        if (first.allPartitions) {
            unknown(null, count).forEach(offsets::putIfAbsent);
        }
        check(offsets, count);
        return new Start(first.topic, offsets, START, false, first.allPartitions);
    }

    private static TopicImage topic(HttpExchange exchange, String name, MetadataImage image) {
        exchange.checkRight(ApiKey.FETCH, Right.READ_TOPIC, name);
        TopicImage topic = image.topic(name);
        if (topic == null) {
            throw new Problem(
                            ProblemType.UNKNOWN_TOPIC,
                            "there is no topic of this name",
                            "check its name, or create the topic")
                    .exception();
        }
        return topic;
    }

    /** The partitions to read, whose offsets are not known. */
    private static Map<Integer, Long> unknown(Long partition, int count) {
        Map<Integer, Long> offsets = new TreeMap<>();
        if (partition != null) {
            offsets.put(partition.intValue(), -1L);
            return offsets;
        }
        for (int i = 0; i < Math.min(count, MAX_PARTITIONS + 1); i++) {
            offsets.put(i, -1L);
        }
        return offsets;
    }

    private static void check(Map<Integer, Long> offsets, int count) {
        if (offsets.size() > MAX_PARTITIONS) {
            throw HttpExchange.invalid(
                    "the topic has more than " + MAX_PARTITIONS + " partitions",
                    "read them one by one with partition=");
        }
        for (int partition : offsets.keySet()) {
            if (partition >= count) {
                throw new Problem(
                                ProblemType.UNKNOWN_PARTITION,
                                "the topic has no partition " + partition,
                                "choose one from 0 to " + (count - 1))
                        .exception();
            }
        }
    }

    private static long timestamp(String from, String time, long byDefault) {
        if (time != null) {
            return time(time);
        }
        if (from == null) {
            return byDefault;
        }
        return switch (from) {
            case "start" -> START;
            case "end" -> END;
            default ->
                throw HttpExchange.invalid("from is neither start nor end", "use from=start, from=end, or offset=");
        };
    }

    private static long time(String text) {
        try {
            long ms = text.matches("\\d{1,18}")
                    ? Long.parseLong(text)
                    : Instant.parse(text).toEpochMilli();
            return Math.max(0, ms);
        } catch (DateTimeParseException | ArithmeticException malformed) {
            throw HttpExchange.invalid(
                    "the time cannot be read", "send ms since 1970 UTC, or ISO 8601 such as 2026-01-31T12:00:00Z");
        }
    }

    /** A parameter that is a number; null if it is not given. */
    static Long number(HttpExchange exchange, String name, long max) {
        return number(name, exchange.parameter(name), max);
    }

    private static Long number(String name, String text, long max) {
        if (text == null) {
            return null;
        }
        if (!text.matches("\\d{1,18}") || Long.parseLong(text) > max) {
            throw HttpExchange.invalid(name + " is not a number from 0 to " + max, "send such a number");
        }
        return Long.valueOf(text);
    }
}
