package io.journalq.server.api.telemetry;

import java.util.Map;

/**
 * Formats the metrics of a client as one line that people and log processors can read: {@code
 * name{attribute=value}=number ...}. One thread.
 */
final class MetricsLine implements OtlpMetrics.Visitor {
    /** Maximum length of a line. The number of metrics that do not fit is added to its end. */
    static final int MAX_LENGTH = 16_384;

    private final StringBuilder line = new StringBuilder();
    private int left;

    @Override
    public void onValue(String name, Map<String, String> attributes, double value) {
        int before = line.length();
        line.append(before == 0 ? "" : " ").append(printable(name));
        if (!attributes.isEmpty()) {
            String separator = "{";
            for (Map.Entry<String, String> attribute : attributes.entrySet()) {
                line.append(separator).append(printable(attribute.getKey()));
                line.append('=').append(printable(attribute.getValue()));
                separator = ",";
            }
            line.append('}');
        }
        line.append('=').append(value);
        if (line.length() > MAX_LENGTH) {
            line.setLength(before);
            left++;
        }
    }

    /** Escapes the text of a client, so that it cannot be mistaken for another part of the log. */
    static String printable(String text) {
        StringBuilder safe = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean plain = c > ' ' && c < 0x7f && "{}=,\"\\".indexOf(c) < 0;
            safe.append(plain ? c : '_');
        }
        return safe.toString();
    }

    @Override
    public String toString() {
        return left == 0 ? line.toString() : line + " andOthers=" + left;
    }
}
