package io.journalq.server.gateway.produce;

import io.journalq.server.gateway.http.HttpExchange;
import io.netty.handler.codec.http.HttpHeaderNames;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Where an idempotent producer continues in a topic. The client keeps it, in the header {@value #HEADER}. A request that is
 * repeated with the same token becomes the same batches with the same sequence numbers, and so the broker appends it only
 * once (KIP-98). Immutable, any thread.
 *
 * <p>As text, it is {@code id/epoch/partitions}, or {@code id/epoch/partitions/0:17,2:4}.
 *
 * @param partitions number of partitions of the topic when the token was made, over which keys are spread. A retry must
 *     choose the same partitions after the topic has got more
 * @param sequences the next sequence number of each partition; 0 for the others
 */
public record ProducerToken(long id, short epoch, int partitions, Map<Integer, Integer> sequences) {
    /** The header of requests that carries the token. */
    static final String HEADER = "JQ-Producer";

    /** Partitions to which a producer can append. More would not fit into a header. */
    static final int MAX_PARTITIONS = 256;

    private static final int MAX_DIGITS = 18;
    private static final int PARTS = 4;
    private static final int PARTS_AT_FIRST = 3;

    public ProducerToken {
        sequences = new TreeMap<>(sequences);
    }

    /** The token of a request; null if it has none. */
    static ProducerToken of(HttpExchange exchange) {
        String text = exchange.header(HEADER);
        return text == null ? null : parse(text);
    }

    private static ProducerToken parse(String text) {
        String[] parts = text.split("/", PARTS);
        if (parts.length < PARTS_AT_FIRST) {
            throw invalid();
        }
        Map<Integer, Integer> sequences = new TreeMap<>();
        if (parts.length == PARTS) {
            List<String> positions = List.of(parts[PARTS_AT_FIRST].split(",", MAX_PARTITIONS + 1));
            for (String position : positions) {
                int colon = position.indexOf(':');
                if (colon < 0
                        || sequences.size() == MAX_PARTITIONS
                        || sequences.put((int) number(position.substring(0, colon), 0, Integer.MAX_VALUE), (int)
                                        number(position.substring(colon + 1), 0, Integer.MAX_VALUE))
                                != null) {
                    throw invalid();
                }
            }
        }
        return new ProducerToken(
                number(parts[0], 0, Long.MAX_VALUE),
                (short) number(parts[1], 0, Short.MAX_VALUE),
                (int) number(parts[2], 1, Integer.MAX_VALUE),
                sequences);
    }

    private static long number(String text, long lowest, long highest) {
        if (text.isEmpty() || text.length() > MAX_DIGITS || !text.chars().allMatch(c -> c >= '0' && c <= '9')) {
            throw invalid();
        }
        long number = Long.parseLong(text);
        if (number < lowest || number > highest) {
            throw invalid();
        }
        return number;
    }

    private static RuntimeException invalid() {
        return HttpExchange.invalid(
                HEADER + " is not a producer of the gateway",
                "send the \"producer\" of the last response, or get one from POST /v1/topics/{topic}/producers");
    }

    /** Refuses a request whose format has no exact retries. */
    static void refuse(HttpExchange exchange, String remedy) {
        if (exchange.header(HEADER) != null) {
            throw HttpExchange.invalid(
                    HEADER + " does not apply to "
                            + exchange.request().headers().get(HttpHeaderNames.CONTENT_TYPE),
                    remedy);
        }
    }

    /** The next sequence number of a partition. */
    int sequence(int partition) {
        return sequences.getOrDefault(partition, 0);
    }

    /** The sequence number that follows some records. */
    static int next(int sequence, int records) {
        return (int) ((sequence + (long) records) & Integer.MAX_VALUE);
    }

    /** The partition of records without a key: the same for each attempt, and another for other requests. */
    int keyless() {
        long sum = id;
        for (int sequence : sequences.values()) {
            sum += sequence;
        }
        return (int) Math.floorMod(sum, (long) partitions);
    }

    @Override
    public String toString() {
        String positions = sequences.entrySet().stream()
                .map(position -> position.getKey() + ":" + position.getValue())
                .collect(Collectors.joining(","));
        List<String> parts =
                new ArrayList<>(List.of(String.valueOf(id), String.valueOf(epoch), String.valueOf(partitions)));
        if (!positions.isEmpty()) {
            parts.add(positions);
        }
        return String.join("/", parts);
    }
}
