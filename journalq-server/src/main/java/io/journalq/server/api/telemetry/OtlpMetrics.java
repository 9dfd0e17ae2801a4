package io.journalq.server.api.telemetry;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Decodes OpenTelemetry's MetricsData, version 1: gauges and sums of numbers, with text attributes. Everything else is
 * skipped. The recursion is limited to the levels of the format, for any input. Stateless.
 *
 * <p>Source: opentelemetry-proto, {@code metrics.proto} and {@code common.proto}; the encoding is protobuf.
 */
final class OtlpMetrics {
    /** Maximum number of attributes of one value. Further attributes are skipped. */
    private static final int MAX_ATTRIBUTES = 16;

    /** Maximum length of a text. Longer texts are truncated. */
    private static final int MAX_TEXT_BYTES = 256;

    private static final int VARINT = 0;
    private static final int FIXED_64 = 1;
    private static final int BYTES = 2;
    private static final int FIXED_32 = 5;
    private static final int MAX_VARINT_BYTES = 10;

    private OtlpMetrics() {}

    /** The metrics of a client are not in OpenTelemetry's format. */
    static final class MalformedMetricsException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private MalformedMetricsException(String message) {
            super(message);
        }
    }

    /** Receives one number. */
    @FunctionalInterface
    interface Visitor {
        void onValue(String name, Map<String, String> attributes, double value);
    }

    /** Handles one field of a message. Returns true if the field was read, and false if it should be skipped. */
    @FunctionalInterface
    private interface Field {
        boolean read(int number, int wireType, ByteBuf in);
    }

    /**
     * Passes every number in the readable bytes to {@code visitor}.
     *
     * @throws MalformedMetricsException when they are not in the format
     */
    static void read(ByteBuf metricsData, Visitor visitor) {
        try {
            nested(
                    metricsData.slice(),
                    1,
                    resource -> nested(
                            resource,
                            2,
                            scope -> nested(scope, 2, metric -> {
                                metric(metric, visitor);
                            })));
        } catch (IndexOutOfBoundsException cutOff) {
            throw new MalformedMetricsException("cut off");
        }
    }

    private static void metric(ByteBuf metric, Visitor visitor) {
        String[] name = {""};
        fields(metric.slice(), (number, wireType, in) -> {
            if (number == 1 && wireType == BYTES) {
                name[0] = text(bytes(in));
                return true;
            }
            return false;
        });
        for (int gaugeOrSum : new int[] {5, 7}) {
            nested(metric.slice(), gaugeOrSum, data -> nested(data, 1, point -> point(name[0], point, visitor)));
        }
    }

    private static void point(String name, ByteBuf point, Visitor visitor) {
        Map<String, String> attributes = new TreeMap<>();
        double[] value = {Double.NaN};
        fields(point, (number, wireType, in) -> {
            if (number == 4 && wireType == FIXED_64) {
                value[0] = in.readDoubleLE();
                return true;
            }
            if (number == 6 && wireType == FIXED_64) {
                value[0] = in.readLongLE();
                return true;
            }
            if (number == 7 && wireType == BYTES && attributes.size() < MAX_ATTRIBUTES) {
                attribute(bytes(in), attributes);
                return true;
            }
            return false;
        });
        visitor.onValue(name, attributes, value[0]);
    }

    private static void attribute(ByteBuf attribute, Map<String, String> attributes) {
        String[] keyAndValue = {"", ""};
        fields(attribute, (number, wireType, in) -> {
            if (number == 1 && wireType == BYTES) {
                keyAndValue[0] = text(bytes(in));
                return true;
            }
            if (number == 2 && wireType == BYTES) {
                nested(bytes(in), 1, value -> keyAndValue[1] = text(value));
                return true;
            }
            return false;
        });
        attributes.put(keyAndValue[0], keyAndValue[1]);
    }

    /** Passes every message or text in field {@code wanted} to {@code each}. */
    private static void nested(ByteBuf message, int wanted, Consumer<ByteBuf> each) {
        fields(message, (number, wireType, in) -> {
            if (number != wanted || wireType != BYTES) {
                return false;
            }
            each.accept(bytes(in));
            return true;
        });
    }

    private static void fields(ByteBuf in, Field field) {
        while (in.isReadable()) {
            long tag = varint(in);
            int wireType = (int) tag & 7;
            if (!field.read((int) (tag >>> 3), wireType, in)) {
                skip(wireType, in);
            }
        }
    }

    private static void skip(int wireType, ByteBuf in) {
        switch (wireType) {
            case VARINT -> varint(in);
            case FIXED_64 -> in.skipBytes(Long.BYTES);
            case BYTES -> bytes(in);
            case FIXED_32 -> in.skipBytes(Integer.BYTES);
            default -> throw new MalformedMetricsException("wire type " + wireType);
        }
    }

    private static ByteBuf bytes(ByteBuf in) {
        long sizeBytes = varint(in);
        if (sizeBytes < 0 || sizeBytes > in.readableBytes()) {
            throw new MalformedMetricsException("cut off");
        }
        return in.readSlice((int) sizeBytes);
    }

    private static long varint(ByteBuf in) {
        long value = 0;
        for (int i = 0; i < MAX_VARINT_BYTES; i++) {
            byte next = in.readByte();
            value |= (long) (next & 0x7f) << (7 * i);
            if (next >= 0) {
                return value;
            }
        }
        throw new MalformedMetricsException("a number of more than " + MAX_VARINT_BYTES + " bytes");
    }

    private static String text(ByteBuf bytes) {
        return bytes.toString(
                bytes.readerIndex(), Math.min(bytes.readableBytes(), MAX_TEXT_BYTES), StandardCharsets.UTF_8);
    }
}
