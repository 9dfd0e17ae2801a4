package io.journalq.conformance;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Kafka's tests that ask for what JournalQ does not set out to be, or not yet, each with the reason. Immutable. */
final class OutOfScope {
    private static final String FILE = "/out-of-scope.txt";

    private final Map<String, String> reasons;

    private OutOfScope(Map<String, String> reasons) {
        this.reasons = reasons;
    }

    /** Reads the list: lines of {@code Class} or {@code Class#method}, a space, the reason; {@code #} begins a comment. */
    static OutOfScope read() {
        Map<String, String> reasons = new LinkedHashMap<>();
        try (InputStream in = OutOfScope.class.getResourceAsStream(FILE)) {
            for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .map(String::strip)
                    .filter(text -> !text.isEmpty() && !text.startsWith("#"))
                    .toList()) {
                int space = line.indexOf(' ');
                if (space < 0) {
                    throw new IllegalStateException(FILE + ": no reason is given for " + line);
                }
                reasons.put(line.substring(0, space), line.substring(space + 1).strip());
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        return new OutOfScope(reasons);
    }

    Optional<String> reason(Class<?> type, Method test) {
        String ofClass = reasons.get(type.getSimpleName());
        return Optional.ofNullable(
                ofClass != null ? ofClass : reasons.get(type.getSimpleName() + "#" + test.getName()));
    }
}
