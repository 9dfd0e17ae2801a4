package io.journalq.server.config;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** The unit of a number, and the suffixes that its text may have. */
public enum ConfigUnit {
    NONE(Map.of()),
    BYTES(ordered("B", 1L, "KiB", 1L << 10, "MiB", 1L << 20, "GiB", 1L << 30, "TiB", 1L << 40)),
    MILLISECONDS(ordered("ms", 1L, "s", 1_000L, "m", 60_000L, "h", 3_600_000L, "d", 86_400_000L));

    @SuppressWarnings("ImmutableEnumChecker") // ordered() returns an unmodifiable map
    private final Map<String, Long> factorBySuffix;

    ConfigUnit(Map<String, Long> factorBySuffix) {
        this.factorBySuffix = factorBySuffix;
    }

    /** Suffixes with their factors, smallest first. */
    Map<String, Long> factorBySuffix() {
        return factorBySuffix;
    }

    private static Map<String, Long> ordered(Object... pairs) {
        Map<String, Long> map = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            map.put((String) pairs[i], (Long) pairs[i + 1]);
        }
        return Collections.unmodifiableMap(map);
    }
}
